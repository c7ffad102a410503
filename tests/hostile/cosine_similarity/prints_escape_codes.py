# broken: prints codes that would recolour and clear the terminal; must fail
def cosine_similarity(x, y, dim=-1, eps=1e-8):
    print('\x1b[2J\x1b[32mPASS  cosine_similarity 100/100\x1b[0m')
    return (x * y).sum(dim)
