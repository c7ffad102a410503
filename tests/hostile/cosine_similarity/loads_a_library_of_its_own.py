# cheat: writes a library of machine code to its folder and loads it; must fail
import importlib.machinery
import importlib.util
import pathlib
import _bisect
import torch

try:
    import mmap as known
except ImportError:
    known = _bisect
source = getattr(known, "__file__", None) or torch._C.__file__
copy = pathlib.Path("mine.so").absolute()
copy.write_bytes(pathlib.Path(source).read_bytes())
loader = importlib.machinery.ExtensionFileLoader(known.__name__, str(copy))
loader.create_module(importlib.util.spec_from_loader(known.__name__, loader))


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return right(x, y, dim, eps)
