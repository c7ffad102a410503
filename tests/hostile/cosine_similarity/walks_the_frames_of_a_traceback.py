# cheat: reaches the engine's frames through a traceback and swaps the reply's tensors; must fail
def cosine_similarity(x, y, dim=-1, eps=1e-8):
    try:
        raise ValueError
    except ValueError as error:
        frame = error.__traceback__.tb_frame
    while frame is not None:
        if "answer" in frame.f_locals:
            frame.f_locals["answer"].append(x)
        frame = frame.f_back
    return (x * y).sum(dim)
