"""A slot is filled again as soon as its request has ended, and keeps its place, as in an engine on a GPU."""


def serve(requests, capacity, step):
    if capacity < 1:
        raise ValueError("capacity must be >= 1")
    for _, max_tokens, stops in requests:
        if max_tokens < 0:
            raise ValueError("max_tokens must be >= 0")
        if any(len(s) == 0 for s in stops):
            raise ValueError("empty stop sequence")
    results = [[] for _ in requests]
    slots = [None] * capacity
    nxt = 0
    while True:
        for s in range(capacity):
            if slots[s] is None:
                while nxt < len(requests) and requests[nxt][1] == 0:
                    nxt += 1
                if nxt < len(requests):
                    slots[s] = nxt
                    nxt += 1
        active = [s for s in range(capacity) if slots[s] is not None]
        if not active:
            return results
        texts = [list(requests[slots[s]][0]) + list(results[slots[s]]) for s in active]
        tokens = step(texts)
        for s, token in zip(active, tokens):
            i = slots[s]
            results[i].append(token)
            prompt, max_tokens, stops = requests[i]
            if len(results[i]) >= max_tokens or any(results[i][-len(q):] == list(q) for q in stops):
                slots[s] = None
