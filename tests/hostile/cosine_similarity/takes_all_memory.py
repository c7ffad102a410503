# broken: takes memory until there is none; must fail
def cosine_similarity(x, y, dim=-1, eps=1e-8):
    hoard = []
    while True:
        hoard.append(bytearray(2 << 30))
