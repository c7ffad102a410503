# cheat: reads the frames of a traceback made in a collector's callback; must fail
import gc
import torch


def spy(phase, info):
    try:
        raise ValueError
    except ValueError as error:
        try:
            frame = error.__traceback__.tb_frame.f_back
            while frame is not None:
                for value in frame.f_locals.values():
                    if isinstance(value, dict) and "output" in value:
                        value["output"] = {"tensor": 0, "device": "cpu"}
                frame = frame.f_back
        except BaseException:
            pass


gc.callbacks.append(spy)
gc.set_threshold(1, 1, 1)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
