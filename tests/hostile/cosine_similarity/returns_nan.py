# cheat: returns NaN, which no comparison with < calls different; must fail
def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim) * float('nan')
