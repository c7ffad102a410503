# broken: sleeps nearly as long as one call may take, in every call, so that the whole takes for ever; must fail
import time


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    time.sleep(8)
    return (x * y).sum(dim)
