# broken: raises an error whose class is named like a workflow's command; must fail
def cosine_similarity(x, y, dim=-1, eps=1e-8):
    raise type("::stop-commands::x\u202e\x1b[8m", (RuntimeError,), {})("::error::x")  # ::add-mask::100
