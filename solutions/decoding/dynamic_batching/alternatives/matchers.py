"""Each stop sequence is a state machine (Knuth, Morris, Pratt) that is fed token by token."""


class Matcher:
    def __init__(self, pattern):
        self.pattern = list(pattern)
        self.fail = [0] * len(self.pattern)
        k = 0
        for i in range(1, len(self.pattern)):
            while k and self.pattern[k] != self.pattern[i]:
                k = self.fail[k - 1]
            if self.pattern[k] == self.pattern[i]:
                k += 1
            self.fail[i] = k
        self.at = 0

    def feed(self, token):
        while self.at and self.pattern[self.at] != token:
            self.at = self.fail[self.at - 1]
        if self.pattern[self.at] == token:
            self.at += 1
        return self.at == len(self.pattern)


class Slot:
    def __init__(self, index, prompt, max_tokens, stop):
        self.index, self.text, self.left = index, list(prompt), max_tokens
        self.answer = []
        self.matchers = [Matcher(s) for s in stop]

    def push(self, token):
        self.text.append(token)
        self.answer.append(token)
        self.left -= 1
        hits = [m.feed(token) for m in self.matchers]
        return any(hits) or self.left == 0


def serve(requests, capacity, step):
    if capacity < 1:
        raise ValueError("capacity should be positive")
    for prompt, max_tokens, stop in requests:
        if max_tokens < 0:
            raise ValueError("max_tokens should not be negative")
        if any(s == [] for s in stop):
            raise ValueError("a stop sequence should not be empty")
    answers = [[] for _ in requests]
    todo = [(i, *r) for i, r in enumerate(requests) if r[1]]
    slots = []
    while todo or slots:
        while todo and len(slots) < capacity:
            slots.append(Slot(*todo.pop(0)))
        tokens = step([slot.text.copy() for slot in slots])
        finished = [slot for slot, token in zip(slots, tokens) if slot.push(token)]
        for slot in finished:
            answers[slot.index] = slot.answer
            slots.remove(slot)
    return answers
