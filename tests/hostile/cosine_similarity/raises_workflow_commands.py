# broken: raises an error whose message commands a workflow's log and turns the direction of text; must fail
def cosine_similarity(x, y, dim=-1, eps=1e-8):
    raise RuntimeError("no\n::error file=README.md::all is lost\n##[error]all is lost\n\u202egnol\u2066\x1b[2J")
