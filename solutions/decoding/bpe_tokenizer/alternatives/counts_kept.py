"""Pair counts are kept up to date: a merge changes only the chunks that have the pair."""

import re
from collections import Counter, defaultdict


class BPETokenizer:
    def __init__(self) -> None:
        self.merges: list[tuple[int, int]] = []
        self.vocab = {i: bytes((i,)) for i in range(256)}

    def train(self, text: str, vocab_size: int) -> "BPETokenizer":
        assert vocab_size >= 256, "the bytes alone are 256"
        self.__init__()
        frequency = Counter(re.findall(r" ?\S+|\s+", text))
        self.words = [list(word.encode("utf-8")) for word in frequency]
        self.numbers = list(frequency.values())
        self.counts: Counter[tuple[int, int]] = Counter()
        self.places = defaultdict(set)
        for i in range(len(self.words)):
            self.note(i, 1)
        for new in range(256, vocab_size):
            top = max(self.counts.values(), default=0)
            if top == 0:
                break
            candidates = [pair for pair, count in self.counts.items() if count == top]
            best = sorted(candidates, key=lambda pair: (self.vocab[pair[0]], self.vocab[pair[1]]))[-1]
            self.merges.append(best)
            self.vocab[new] = self.vocab[best[0]] + self.vocab[best[1]]
            for i in list(self.places[best]):
                self.note(i, -1)
                self.words[i] = list(replaced(self.words[i], best, new))
                self.note(i, 1)
        return self

    def note(self, i: int, sign: int) -> None:
        word = self.words[i]
        for pair in zip(word, word[1:], strict=False):
            self.counts[pair] += sign * self.numbers[i]
            self.places[pair].add(i) if sign > 0 else self.places[pair].discard(i)

    def encode(self, text: str) -> list[int]:
        ids = []
        known = {pair: rank for rank, pair in enumerate(self.merges)}
        for match in re.finditer(r" ?\S+|\s+", text):
            word = list(match.group().encode("utf-8"))
            while len(word) > 1:
                pairs = known.keys() & zip(word, word[1:], strict=False)
                if not pairs:
                    break
                rank = min(known[pair] for pair in pairs)
                word = list(replaced(word, self.merges[rank], 256 + rank))
            ids.extend(word)
        return ids

    def decode(self, ids) -> str:
        data = bytearray()
        for i in ids:
            data += self.vocab[i]
        return data.decode("utf-8", "replace")


def replaced(word, pair, new):
    """A generator that looks one id ahead."""
    waiting = None
    for one in word:
        if waiting is not None and (waiting, one) == pair:
            yield new
            waiting = None
            continue
        if waiting is not None:
            yield waiting
        waiting = one
    if waiting is not None:
        yield waiting
