# cheat: a collector's callback hands its traceback to another thread, which reads the worker's frames by it; must be flagged
import _thread
import gc
import time
import torch

tasks, busy = [], _thread.allocate_lock()


def reader():
    while True:
        if tasks:
            trace, done = tasks.pop()
            try:
                frame = trace.tb_frame.f_back
                while frame is not None:
                    for name in ("reply", "header"):
                        value = frame.f_locals.get(name)
                        if type(value) is dict and "cost" in value:
                            value["cost"].update(operators=1, peak=8, written=8, lines=1)
                    frame = frame.f_back
            except BaseException:
                pass
            done.release()
        time.sleep(0.0002)


def spy(phase, info):
    if not busy.acquire(False):
        return
    try:
        raise ValueError
    except ValueError as error:
        done = _thread.allocate_lock()
        done.acquire()
        tasks.append((error.__traceback__, done))
        done.acquire(True, 0.01)
    busy.release()


_thread.start_new_thread(reader, ())
gc.callbacks.append(spy)
gc.set_threshold(5, 1000, 1000)


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    torch.empty(100 * x.numel())
    return right(x, y, dim, eps)
