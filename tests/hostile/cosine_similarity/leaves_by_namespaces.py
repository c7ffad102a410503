# cheat: enters namespaces of its own and mounts over what it was shown; must fail
import ctypes


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    libc = ctypes.CDLL(None)
    libc.unshare(0x10000000 | 0x00020000)
    libc.mount(b"none", b"/usr", b"tmpfs", 0, None)
    return (x * y).sum(dim)
