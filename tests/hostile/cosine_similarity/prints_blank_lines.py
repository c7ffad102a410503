# broken: prints nothing but blank lines, of which none can be shown; must fail
def cosine_similarity(x, y, dim=-1, eps=1e-8):
    print("\n \n")
    return (x * y).sum(dim)
