"""Pair counts are kept up to date: a merge changes only the chunks that have the pair."""

import re
from collections import Counter


def replaced(word, pair, new):
    out, i = [], 0
    while i < len(word):
        if i + 1 < len(word) and word[i] == pair[0] and word[i + 1] == pair[1]:
            out.append(new)
            i += 2
        else:
            out.append(word[i])
            i += 1
    return out


class BPETokenizer:
    def __init__(self) -> None:
        self.merges: list[tuple[int, int]] = []
        self.vocab = {i: bytes((i,)) for i in range(256)}

    def train(self, text: str, vocab_size: int) -> "BPETokenizer":
        assert vocab_size >= 256, "the bytes alone are 256"
        self.__init__()
        frequency = Counter(re.findall(r" ?\S+|\s+", text))
        words = [(list(word.encode("utf-8")), number) for word, number in frequency.items()]
        counts: Counter[tuple[int, int]] = Counter()
        for word, number in words:
            for pair in zip(word, word[1:], strict=False):
                counts[pair] += number
        while len(self.vocab) < vocab_size and (top := max(counts.values(), default=0)):
            candidates = [pair for pair, count in counts.items() if count == top]
            best = sorted(candidates, key=lambda pair: (self.vocab[pair[0]], self.vocab[pair[1]]))[-1]
            new = 256 + len(self.merges)
            self.merges.append(best)
            self.vocab[new] = self.vocab[best[0]] + self.vocab[best[1]]
            for i, (word, number) in enumerate(words):
                if best not in zip(word, word[1:], strict=False):
                    continue
                fresh = replaced(word, best, new)
                for one, sign in ((word, -1), (fresh, 1)):
                    for pair in zip(one, one[1:], strict=False):
                        counts[pair] += sign * number
                words[i] = fresh, number
        return self

    def encode(self, text: str) -> list[int]:
        ids, known = [], {pair: rank for rank, pair in enumerate(self.merges)}
        for match in re.finditer(r" ?\S+|\s+", text):
            word = list(match.group().encode("utf-8"))
            while pairs := known.keys() & zip(word, word[1:], strict=False):
                rank = min(known[pair] for pair in pairs)
                word = replaced(word, self.merges[rank], 256 + rank)
            ids.extend(word)
        return ids

    def decode(self, ids) -> str:
        data = bytearray()
        for i in ids:
            data += self.vocab[i]
        return data.decode("utf-8", "replace")
