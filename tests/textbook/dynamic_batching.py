import copy


class Scheduler:
    def __init__(self, requests, capacity):
        self.requests = copy.deepcopy(list(requests))
        self.capacity = capacity
        self.generated = [list() for _ in self.requests]
        self.waiting = list(range(len(self.requests)))
        self.running = []

    def is_done(self, i):
        _, max_tokens, stop = self.requests[i]
        g = self.generated[i]
        if len(g) >= max_tokens:
            return True
        return any(len(g) >= len(s) and g[len(g) - len(s):] == s for s in stop)

    def admit(self):
        while self.waiting and len(self.running) < self.capacity:
            i = self.waiting.pop(0)
            if not self.is_done(i):
                self.running.append(i)

    def run(self, step):
        self.admit()
        while self.running:
            batch = [self.requests[i][0] + self.generated[i] for i in self.running]
            for i, token in zip(list(self.running), step(batch)):
                self.generated[i].append(token)
                if self.is_done(i):
                    self.running.remove(i)
            self.admit()
        return self.generated


def serve(requests, capacity, step):
    if capacity < 1:
        raise ValueError
    for _, m, stop in requests:
        if m < 0 or not all(len(s) > 0 for s in stop):
            raise ValueError
    return Scheduler(requests, capacity).run(step)
