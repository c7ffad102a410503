"""Each id is a character, so that `str.replace` merges a pair everywhere."""

import re
from collections import Counter
from itertools import pairwise


class BPETokenizer:
    def __init__(self):
        self.merges, self.vocab = [], {i: bytes([i]) for i in range(256)}

    def train(self, text, vocab_size):
        if vocab_size < 256:
            raise ValueError(f"vocab_size has to be at least 256, not {vocab_size}")
        self.__init__()
        words = Counter(chunk.encode().decode("latin-1") for chunk in re.findall(r" ?\S+|\s+", text))
        for new in range(256, vocab_size):
            pairs = Counter()
            for word, number in words.items():
                pairs.update({pair: number * n for pair, n in Counter(pairwise(word)).items()})
            if not pairs:
                break
            best = max(((n, self.vocab[ord(a)], self.vocab[ord(b)]), a + b) for (a, b), n in pairs.items())[1]
            words = {word.replace(best, chr(new)): number for word, number in words.items()}
            self.merges.append((ord(best[0]), ord(best[1])))
            self.vocab[new] = b"".join(self.vocab[ord(one)] for one in best)

    def encode(self, text):
        chunks = re.findall(r" ?\S+|\s+", text)
        words = {chunk: chunk.encode().decode("latin-1") for chunk in chunks}
        for new, (left, right) in enumerate(self.merges, start=256):
            words = {chunk: word.replace(chr(left) + chr(right), chr(new)) for chunk, word in words.items()}
        return [ord(one) for chunk in chunks for one in words[chunk]]

    def decode(self, ids):
        return b"".join(map(self.vocab.get, ids)).decode("utf-8", errors="replace")
