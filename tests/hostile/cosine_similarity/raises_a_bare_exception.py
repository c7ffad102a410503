# cheat: raises a BaseException of its own whose text raises again; must fail
class Escape(BaseException):
    def __str__(self):
        raise Escape

    __repr__ = __str__


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    raise Escape
