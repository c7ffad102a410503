# cheat: returns an object that equals everything and has any attribute; must fail
class Agreeable:
    def __eq__(self, other):
        return True

    def __getattr__(self, name):
        return lambda *arguments, **options: self

    __hash__ = None


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return Agreeable()
