# broken: raises what torch's allocator says, with a number of bytes that no float holds; must fail
def cosine_similarity(x, y, dim=-1, eps=1e-8):
    raise RuntimeError(f"you tried to allocate {10**400} bytes")
