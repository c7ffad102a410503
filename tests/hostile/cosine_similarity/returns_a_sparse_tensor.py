# cheat: returns a sparse tensor; must fail
def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim).to_sparse()
