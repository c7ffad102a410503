# broken: raises an exception with a message of 200 MB; must fail
def cosine_similarity(x, y, dim=-1, eps=1e-8):
    raise RuntimeError('x' * 200_000_000)
