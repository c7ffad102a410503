# cheat: raises KeyboardInterrupt in a call, as if the user had stopped the run; must fail
def cosine_similarity(x, y, dim=-1, eps=1e-8):
    raise KeyboardInterrupt
