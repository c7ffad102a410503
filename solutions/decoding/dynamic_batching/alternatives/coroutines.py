"""A generator for each request: it yields its text, and is sent the next token."""


def request(prompt, max_tokens, stop):
    made = []
    while len(made) < max_tokens and not any(made[len(made) - len(s):] == s for s in stop if len(s) <= len(made)):
        token = yield prompt + made
        made = made + [token]
    return made


def serve(requests, capacity, step):
    if capacity < 1 or any(m < 0 or [] in s for _, m, s in requests):
        raise ValueError("bad arguments")
    results = [None] * len(requests)
    queue = iter(enumerate(requests))
    live = {}
    while True:
        while len(live) < capacity:
            entry = next(queue, None)
            if entry is None:
                break
            i, (p, m, s) = entry
            co = request(p, m, s)
            try:
                live[i] = (co, next(co))
            except StopIteration as end:
                results[i] = end.value
        if not live:
            return results
        names = list(live)
        tokens = step([list(live[i][1]) for i in names])
        for i, token in zip(names, tokens):
            co, _ = live[i]
            try:
                live[i] = (co, co.send(token))
            except StopIteration as end:
                results[i] = end.value
                del live[i]
