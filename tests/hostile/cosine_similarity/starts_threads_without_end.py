# broken: starts threads that never end, as many as it may; must fail
import threading
import time

for _ in range(100_000):
    try:
        threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
    except RuntimeError:
        break


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
