"""Every merge is applied in turn, to each different chunk, a tuple of ids."""

import re
from collections import Counter


class BPETokenizer:
    def __init__(self):
        self.reset()

    def reset(self):
        self.merges: list[tuple[int, int]] = []
        self.vocab = dict(enumerate(map(bytes, zip(range(256)))))

    def train(self, text, vocab_size):
        if vocab_size < len(range(256)):
            raise ValueError(f"{vocab_size} is too small")
        self.reset()
        words = Counter(tuple(chunk.encode()) for chunk in re.findall(r" ?\S+|\s+", text))
        for new in range(256, vocab_size):
            pairs: Counter[tuple[int, int]] = Counter()
            for word, number in words.items():
                for i in range(len(word) - 1):
                    pairs[word[i : i + 2]] += number
            if not pairs:
                return
            _, left, right, best = max((n, self.vocab[a], self.vocab[b], (a, b)) for (a, b), n in pairs.items())
            self.merges += [best]
            self.vocab[new] = left + right
            words = Counter({apply(word, best, new): number for word, number in words.items()})

    def encode(self, text):
        chunks = re.findall(r" ?\S+|\s+", text)
        known = {}
        for chunk in set(chunks):
            word = tuple(chunk.encode())
            for new, pair in enumerate(self.merges, 256):
                if pair[0] in word:
                    word = apply(word, pair, new)
            known[chunk] = word
        ids: list[int] = []
        for chunk in chunks:
            ids += known[chunk]
        return ids

    def decode(self, ids):
        return str(b"".join(self.vocab[i] for i in ids), "utf-8", "replace")


def apply(word, pair, new):
    if pair not in zip(word, word[1:], strict=False):
        return word
    out, i = (), 0
    while i < len(word):
        found = word[i : i + 2] == pair
        out += (new,) if found else (word[i],)
        i += 1 + found
    return out
