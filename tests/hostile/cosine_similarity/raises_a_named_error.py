# cheat: raises an exception that is called ValueError and is none; must fail
class ValueError(BaseException):
    pass


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    raise ValueError('should have equal shapes')
