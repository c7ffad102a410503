# broken: makes shared memory segments and semaphores and lets them lie; must fail
from multiprocessing import shared_memory, synchronize

try:
    KEPT = [shared_memory.SharedMemory(create=True, size=1 << 20, name=f"hostile_was_here{n}") for n in range(4)]
except (OSError, ImportError):
    pass


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
