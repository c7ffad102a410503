# broken: raises an error whose class has a name that no file could hold; must fail
def cosine_similarity(x, y, dim=-1, eps=1e-8):
    raise type("Error\udcff", (RuntimeError,), {"__module__": "\ud8ff"})
