# cheat: makes time stand still; must fail
import time

time.time = time.perf_counter = time.monotonic = time.process_time = lambda: 0.0


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
