# honest: starts threads on import that wait, and a pool that it uses; must pass
import threading
import concurrent.futures
import queue
import torch
event = threading.Event()
one = threading.Thread(target=lambda: None)
one.start(); one.join()
two = threading.Thread(target=event.wait, daemon=True, name="waits")
two.start()
timer = threading.Timer(0.01, lambda: None)
timer.start()
lock = threading.RLock()
local = threading.local()
POOL = concurrent.futures.ThreadPoolExecutor(max_workers=2)
print(threading.current_thread(), threading.enumerate(), threading.get_ident(), threading.active_count())

def cosine_similarity(x, y, dim=-1, eps=1e-8):
    local.dim = dim
    with lock:
        x, y = torch.broadcast_tensors(x, y)
        norms = [POOL.submit(torch.linalg.vector_norm, v, dim=dim, keepdim=True) for v in (x, y)]
        concurrent.futures.wait(norms)
    x_norm, y_norm = (one.result().clamp_min(eps) for one in norms)
    assert threading.current_thread() is not two
    return ((x / x_norm) * (y / y_norm)).sum(dim)
