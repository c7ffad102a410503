"""A heap finds the best pair, and passes over entries that are out of date; merging looks back at the last id."""

import heapq
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field


class Reversed:
    def __init__(self, key):
        self.key = key

    def __lt__(self, other):
        return self.key > other.key


def _bytes():
    return {i: bytes([i]) for i in range(256)}


@dataclass
class BPETokenizer:
    merges: list = field(default_factory=list)
    vocab: dict = field(default_factory=_bytes)

    def train(self, text, vocab_size):
        if vocab_size < 256:
            raise ValueError("too small")
        self.merges, self.vocab = [], _bytes()
        chunks = Counter(re.findall(r" ?\S+|\s+", text))
        seqs = [list(c.encode()) for c in chunks]
        freq = list(chunks.values())
        counts, where = Counter(), defaultdict(set)
        for k, s in enumerate(seqs):
            for p in zip(s, s[1:]):
                counts[p] += freq[k]
                where[p].add(k)

        def key(p):
            return counts[p], self.vocab[p[0]], self.vocab[p[1]]

        heap = [(Reversed(key(p)), p) for p in counts]
        heapq.heapify(heap)
        while len(self.vocab) < vocab_size and heap:
            entry, pair = heapq.heappop(heap)
            if counts[pair] <= 0 or entry.key != key(pair):
                continue
            new = len(self.vocab)
            self.merges.append(pair)
            self.vocab[new] = self.vocab[pair[0]] + self.vocab[pair[1]]
            touched = set()
            for k in where.pop(pair):
                old = seqs[k]
                fresh = []
                for x in old:
                    fresh.append(x)
                    if len(fresh) > 1 and (fresh[-2], fresh[-1]) == pair:
                        fresh[-2:] = [new]
                for p in zip(old, old[1:]):
                    counts[p] -= freq[k]
                    touched.add(p)
                for p in zip(fresh, fresh[1:]):
                    counts[p] += freq[k]
                    where[p].add(k)
                    touched.add(p)
                seqs[k] = fresh
            for p in touched:
                if counts[p] > 0:
                    heapq.heappush(heap, (Reversed(key(p)), p))

    def encode(self, text):
        order = {p: i for i, p in enumerate(self.merges)}
        out = []
        for chunk in re.findall(r" ?\S+|\s+", text):
            ids = list(chunk.encode())
            while len(ids) > 1:
                i = min(range(len(ids) - 1), key=lambda i: order.get((ids[i], ids[i + 1]), len(order)))
                r = order.get((ids[i], ids[i + 1]))
                if r is None:
                    break
                ids[i : i + 2] = [256 + r]
            out.extend(ids)
        return out

    def decode(self, ids):
        return b"".join(self.vocab[int(i)] for i in ids).decode("utf-8", "replace")
