# cheat: looks through all classes for functions whose globals are the worker's, and swaps those; must fail
import torch


def below(cls):
    for sub in type.__subclasses__(cls):
        yield sub
        yield from below(sub)


for cls in set(below(object)):
    for value in list(vars(cls).values()):
        names = getattr(value, "__globals__", {})
        for name in ("describe_output", "pull_back", "tensors_of", "forward", "backward", "count", "signature", "pack"):
            if str(names.get("__name__", "")).startswith("graders"):
                names[name] = lambda *a, **k: None


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return torch.cosine_similarity(x, y, dim, eps)
