# cheat: puts a finder in front of all imports that makes empty modules of the engine's; must fail
import sys
import types


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("graders"):
            sys.modules[name] = types.ModuleType(name)
        return None


sys.meta_path.insert(0, Finder())


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
