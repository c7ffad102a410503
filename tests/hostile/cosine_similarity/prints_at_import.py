# broken: prints ten million lines while it is imported; must fail
print('solved\n' * 10_000_000)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
