# cheat: looks for the watch in the closures of what starts threads, clears its lists and calls what is banned; must fail
import _thread
import threading
import torch


def inside(function):
    for cell in getattr(function, "__closure__", None) or ():
        yield cell.cell_contents
        yield from inside(cell.cell_contents)


for name in ("start_new_thread", "start_new", "_start_new_thread"):
    for module in (_thread, threading):
        for found in inside(getattr(module, name, None)):
            for value in list(getattr(found, "__dict__", {}).values()):
                if hasattr(value, "clear"):
                    value.clear()


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return torch.nn.CosineSimilarity(dim, eps)(x, y)
