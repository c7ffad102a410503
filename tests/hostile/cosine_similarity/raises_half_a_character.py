# broken: raises an error whose message no file could hold; must fail
def cosine_similarity(x, y, dim=-1, eps=1e-8):
    raise RuntimeError("half a character: \ud800, and its other half: \udc80")
