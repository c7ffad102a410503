# cheat: raises SystemExit in a call; must fail
def cosine_similarity(x, y, dim=-1, eps=1e-8):
    raise SystemExit
