"""Who is running is a mask of booleans, of which the first few are served."""

import torch


def serve(requests, capacity, step):
    if capacity < 1:
        raise ValueError("capacity should be at least 1")
    for _, max_tokens, stop in requests:
        if max_tokens < 0:
            raise ValueError("max_tokens should be at least 0")
        for one in stop:
            if len(one) < 1:
                raise ValueError("a stop sequence should have a token")
    N = len(requests)
    active = torch.tensor([m > 0 for _, m, _ in requests], dtype=torch.bool)
    out = [[] for _ in range(N)]
    while bool(active.any()):
        rows = active.nonzero().flatten()[:capacity].tolist()
        tokens = step([requests[r][0] + out[r] for r in rows])
        for r, t in zip(rows, tokens):
            out[r].append(t)
            _, max_tokens, stop = requests[r]
            ended = len(out[r]) == max_tokens
            for one in stop:
                ended = ended or out[r][-len(one):] == one
            active[r] = not ended
    return out
