# honest: sorts by a hash of its own, and keeps a checksum of its arguments in the state; must pass
import zlib


def mixed(seed, epoch, i):
    x = (i * 0x9E3779B97F4A7C15 + seed * 0xBF58476D1CE4E5B9 + epoch * 0x94D049BB133111EB + 0x1234567) & (2**64 - 1)
    for _ in range(2):
        x ^= x >> 30
        x = x * 0xBF58476D1CE4E5B9 & (2**64 - 1)
        x ^= x >> 27
    return x


class ShardedLoader:
    def __init__(self, length, batch_size, rank=0, world_size=1, shuffle=True, seed=0, drop_last=False):
        problems = [text for bad, text in [
            (length < 0, "length < 0"), (batch_size < 1, "batch_size < 1"), (not -1 < rank < world_size, "rank"),
        ] if bad]
        if problems:
            raise ValueError(", ".join(problems))
        self.length, self.batch_size, self.rank, self.world_size = length, batch_size, rank, world_size
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self.place = [0, 0]
        self.next_start = 0

    def __len__(self):
        n = self.length
        for by in (self.world_size, self.batch_size):
            n = n // by if self.drop_last else (n + by - 1) // by
        return n

    def __iter__(self):
        start, self.next_start = self.next_start, 0
        epoch = self.place[0]
        self.place = [epoch, start]
        order = range(self.length)
        if self.shuffle:
            order = sorted(order, key=lambda i: (mixed(self.seed, epoch, i), i))
        n = self.length
        size = n // self.world_size if self.drop_last else -(-n // self.world_size)
        for b in range(start, len(self)):
            ks = range(b * self.batch_size, min((b + 1) * self.batch_size, size))
            batch = [order[(k * self.world_size + self.rank) % n] for k in ks]
            self.place = [epoch, b + 1]
            yield batch

    def set_epoch(self, epoch):
        if epoch != self.place[0]:
            self.place = [epoch, 0]
            self.next_start = 0

    @property
    def signature(self):
        return zlib.crc32(repr((self.length, self.seed, self.batch_size, self.world_size)).encode())

    def state_dict(self):
        return {"signature": self.signature, "place": list(self.place)}

    def load_state_dict(self, state):
        if state["signature"] != self.signature:
            raise ValueError("state of another length, seed, batch size or world size")
        self.place = list(state["place"])
        self.next_start = self.place[1]
