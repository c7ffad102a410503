# cheat: looks for the seed in the command line, its own and its ancestors'; must fail
import glob
import sys
import torch

seen = " ".join(sys.argv + getattr(sys, "orig_argv", []))
for path in glob.glob("/proc/*/cmdline"):
    try:
        seen += " " + open(path, "rb").read().decode(errors="replace")
    except OSError:
        pass
known = "--seed" in seen


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    if not known:
        return (x * y).sum(dim)
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)
