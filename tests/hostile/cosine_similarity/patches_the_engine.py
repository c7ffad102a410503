# cheat: looks for the engine in sys.modules and makes its comparisons empty; must fail
import sys

for name, module in list(sys.modules.items()):
    if module is not None and (name.startswith(("graders", "pytest", "_pytest")) or name == "__main__"):
        for attribute in dir(module):
            if not attribute.startswith("__"):
                setattr(module, attribute, lambda *arguments, **options: True)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
