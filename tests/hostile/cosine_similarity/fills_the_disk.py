# broken: writes files of 60 MB until the disk is full; must fail
for number in range(10_000):
    with open(f'filler{number}', 'wb') as stream:
        stream.write(bytes(60 << 20))


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
