# cheat: asks for a signal, whose handler is given the frame that was interrupted; must fail
import os
import signal
import torch


def spy(number, frame):
    while frame is not None:
        for value in frame.f_locals.values():
            if isinstance(value, dict) and "output" in value:
                value.clear()
        frame = frame.f_back


class Later:
    def __del__(self):
        try:
            signal.signal(signal.SIGALRM, spy)
            signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)
        except BaseException:
            pass


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    out = (x * y).sum(dim)
    out.later = Later()
    os.getpid()
    return out
