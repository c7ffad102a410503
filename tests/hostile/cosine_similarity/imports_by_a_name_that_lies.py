# cheat: imports Python's library of tests, which reads and writes memory, by a name whose class says that it is of no package; must fail
import torch


class Name(str):
    def partition(self, at):
        return "", "", ""


__import__(Name("_testcapi"))


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return right(x, y, dim, eps)
