"""Objects that know when they are finished, in a queue."""

from collections import deque
from dataclasses import dataclass, field


@dataclass
class Sequence:
    index: int
    prompt: list
    limit: int
    stops: list
    out: list = field(default_factory=list)

    @property
    def finished(self):
        if len(self.out) >= self.limit:
            return True
        for stop in self.stops:
            if len(self.out) >= len(stop) and self.out[-len(stop):] == stop:
                return True
        return False


def serve(requests, capacity, step):
    assert capacity >= 1, "capacity"
    waiting = deque()
    sequences = []
    for i, (p, m, s) in enumerate(requests):
        assert m >= 0
        assert all(s), "empty stop"
        seq = Sequence(i, list(p), m, [list(x) for x in s])
        sequences.append(seq)
        if m > 0:
            waiting.append(seq)
    running = []
    while waiting or running:
        while waiting and len(running) < capacity:
            running.append(waiting.popleft())
        tokens = step([seq.prompt + seq.out for seq in running])
        for seq, t in zip(running, tokens):
            seq.out.append(t)
        running = [seq for seq in running if not seq.finished]
    return [seq.out for seq in sequences]
