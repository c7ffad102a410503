# cheat: gets the dicts of C classes by comparing their proxies, and alters what is signed and what is sent; must fail
import _blake2
import _socket
import torch


class Thief:
    def __ror__(self, other):
        return other


sockets = _socket.socket.__dict__ | Thief()
hashes = _blake2.blake2b.__dict__ | Thief()
send, update = sockets["sendall"], hashes["update"]


def changed(part):
    return part.replace(b'"peak": 6', b'"peak": 0') if type(part) is bytes else part


sockets["sendall"] = lambda self, part: send(self, changed(part))
hashes["update"] = lambda self, part: update(self, changed(part))


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    torch.empty(100 * x.numel())
    return right(x, y, dim, eps)
