# honest: it sends the texts in reverse order, by rounds of a list that is filtered; must pass
def done(out, limit, stops):
    return len(out) == limit or any(tuple(out[-len(s):]) == tuple(s) for s in stops)


def serve(requests, capacity, step):
    if capacity <= 0:
        raise ValueError("capacity")
    for r in requests:
        if r[1] < 0:
            raise ValueError("max_tokens")
        if min(map(len, r[2]), default=1) == 0:
            raise ValueError("stop")
    out = {i: () for i in range(len(requests))}
    pending = [i for i, r in enumerate(requests) if r[1] != 0]
    while pending:
        batch = pending[:capacity][::-1]
        rows = [list(requests[i][0]) + list(out[i]) for i in batch]
        for i, token in zip(batch, list(step(rows))):
            out[i] += (token,)
        pending = [i for i in pending if i not in batch or not done(out[i], *requests[i][1:])]
    return [list(out[i]) for i in range(len(requests))]
