# cheat: takes the trace and the profile function off in threads without a frame, then calls what is banned; must fail
import _thread
import sys
import time
import torch


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    _thread.start_new_thread(sys.setprofile, (None,))
    _thread.start_new_thread(sys.addaudithook, (print,))
    time.sleep(0.001)
    return torch.cosine_similarity(x, y, dim, eps)
