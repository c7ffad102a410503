# cheat: takes the profile function off in code that bears the name of a library's file; must fail
import contextlib
import torch

source = "import sys\ndef off():\n    sys.setprofile(None)\n    sys.settrace(None)\n"
space = {}
exec(compile(source, contextlib.__file__, "exec"), space)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    try:
        space["off"]()
    except Exception:
        pass
    return torch.cosine_similarity(x, y, dim, eps)
