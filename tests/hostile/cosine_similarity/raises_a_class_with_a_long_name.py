# broken: raises an error whose class has a name of 400 kB; must fail
Long = type("X" * 400_000, (RuntimeError,), {})


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    raise Long
