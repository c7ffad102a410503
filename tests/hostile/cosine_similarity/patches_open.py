# cheat: makes open return an empty file; must fail
import builtins
import io

builtins.open = lambda *arguments, **options: io.StringIO()


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
