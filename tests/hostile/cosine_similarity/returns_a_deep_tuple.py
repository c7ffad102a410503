# broken: returns a tuple that holds itself a thousand deep; must fail
def cosine_similarity(x, y, dim=-1, eps=1e-8):
    result = ()
    for _ in range(5000):
        result = (result,)
    return result
