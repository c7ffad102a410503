import re
from collections import Counter


def count_pairs(words, freqs):
    pairs = Counter()
    for word, freq in zip(words, freqs):
        for left, right in zip(word, word[1:]):
            pairs[(left, right)] += freq
    return pairs


def merge_pair(word, pair, new_id):
    out = []
    i = 0
    while i < len(word):
        if i + 1 < len(word) and word[i] == pair[0] and word[i + 1] == pair[1]:
            out.append(new_id)
            i += 2
        else:
            out.append(word[i])
            i += 1
    return out


class BPETokenizer:
    def __init__(self):
        self.merges = []
        self.vocab = {i: bytes([i]) for i in range(256)}

    def train(self, text, vocab_size):
        self.merges = []
        self.vocab = {i: bytes([i]) for i in range(256)}
        counts = Counter(re.findall(r" ?\S+|\s+", text))
        words = [list(w.encode("utf-8")) for w in counts]
        freqs = list(counts.values())
        for new_id in range(256, vocab_size):
            pairs = count_pairs(words, freqs)
            if not pairs:
                break
            best = max(pairs, key=lambda p: (pairs[p], (self.vocab[p[0]], self.vocab[p[1]])))
            words = [merge_pair(w, best, new_id) for w in words]
            self.merges.append(best)
            self.vocab[new_id] = self.vocab[best[0]] + self.vocab[best[1]]

    def encode(self, text):
        ids = []
        for chunk in re.findall(r" ?\S+|\s+", text):
            word = list(chunk.encode("utf-8"))
            for i, pair in enumerate(self.merges):
                word = merge_pair(word, pair, 256 + i)
            ids.extend(word)
        return ids

    def decode(self, ids):
        data = b"".join(self.vocab[i] for i in ids)
        return data.decode("utf-8", errors="replace")
