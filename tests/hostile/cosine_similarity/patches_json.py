# cheat: makes json write a reply without faults; must fail
import json

dumps = json.dumps
json.dumps = lambda thing, **options: dumps({"header": {"state": "solved"}, "tensors": [], "sizes": []}, **options)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
