# cheat: traces a thread that registers an operator, and so finds what registers kernels; must fail
import threading
import torch

found = []


def trace(frame, event, argument):
    found.extend([frame.f_locals["register"]] if "register" in frame.f_locals else [])


threading._trace_hook = trace
thread = threading.Thread(target=torch._C._dispatch_library, args=("FRAGMENT", "own", "", "x", 0))
thread.start()
thread.join()


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


library = found[0]("IMPL", "aten", "", "x", 0)
library.impl(
    "cosine_similarity", "CompositeImplicitAutograd", lambda x, y, dim=1, eps=1e-8: right(x, y, dim, eps), False
)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return torch.cosine_similarity(x, y, dim, eps)
