"""Chunks are lists of byte strings, as in GPT-2's encoder, with ranks and a cache; ids come last."""

import collections
import re


class BPETokenizer:
    pattern = re.compile(r" ?\S+|\s+")

    def __init__(self):
        self.vocab = {i: bytes([i]) for i in range(256)}
        self.encoder = {piece: i for i, piece in self.vocab.items()}
        self.merges = []
        self.ranks = {}
        self.cache = {}

    def train(self, text, vocab_size):
        if not isinstance(vocab_size, int) or vocab_size < 256:
            raise ValueError(f"vocab_size should be an int of at least 256, got {vocab_size}")
        self.__init__()
        corpus = collections.Counter(self.pattern.findall(text))
        splits = {word: [bytes([byte]) for byte in word.encode("utf-8")] for word in corpus}
        while len(self.vocab) < vocab_size:
            frequencies = collections.defaultdict(int)
            for word, frequency in corpus.items():
                pieces = splits[word]
                for i in range(len(pieces) - 1):
                    frequencies[pieces[i], pieces[i + 1]] += frequency
            if len(frequencies) == 0:
                break
            left, right = max(frequencies, key=lambda pair: (frequencies[pair], pair))
            self.ranks[left, right] = len(self.ranks)
            self.merges.append((self.encoder[left], self.encoder[right]))
            self.encoder[left + right] = len(self.vocab)
            self.vocab[len(self.vocab)] = left + right
            splits = {word: self.merge(pieces, left, right) for word, pieces in splits.items()}
        print(f"learnt {len(self.merges)} merges")

    @staticmethod
    def merge(pieces, left, right):
        merged, i = [], 0
        while i < len(pieces):
            if i < len(pieces) - 1 and pieces[i] == left and pieces[i + 1] == right:
                merged.append(left + right)
                i += 2
            else:
                merged.append(pieces[i])
                i += 1
        return merged

    def bpe(self, word):
        if word not in self.cache:
            pieces = [bytes([byte]) for byte in word.encode("utf-8")]
            while len(pieces) > 1:
                rank, pair = min((self.ranks.get(pair, float("inf")), pair) for pair in zip(pieces, pieces[1:]))
                if rank == float("inf"):
                    break
                pieces = self.merge(pieces, *pair)
            self.cache[word] = [self.encoder[piece] for piece in pieces]
        return self.cache[word]

    def encode(self, text):
        return [token for word in self.pattern.findall(text) for token in self.bpe(word)]

    def decode(self, ids):
        return b"".join([self.vocab[token] for token in ids]).decode("utf-8", errors="replace")
