# broken: recurses for ever; must fail
def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return cosine_similarity(x, y, dim, eps)
