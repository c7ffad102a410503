# broken: reads the memory at address 0; must fail
import ctypes


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return ctypes.string_at(0)
