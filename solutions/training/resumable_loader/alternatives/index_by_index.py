"""The order is calculated index by index, by a Feistel cipher: nothing as long as the epoch is kept."""

import hashlib


class ShardedLoader:
    def __init__(self, length, batch_size, rank=0, world_size=1, shuffle=True, seed=0, drop_last=False):
        if length < 0:
            raise ValueError("length")
        if batch_size < 1:
            raise ValueError("batch_size")
        if world_size < 1 or not (0 <= rank < world_size):
            raise ValueError("rank")
        self.length, self.batch_size, self.rank, self.world_size = length, batch_size, rank, world_size
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self.epoch, self.count, self.loaded = 0, 0, False
        bits = max((length - 1).bit_length(), 2)
        self.half = (bits + 1) // 2

    def _permuted(self, i):
        mask = (1 << self.half) - 1
        while True:
            left, right = i >> self.half, i & mask
            for r in range(4):
                h = hashlib.blake2b(f"{self.seed},{self.epoch},{r},{right}".encode(), digest_size=8).digest()
                left, right = right, left ^ (int.from_bytes(h, "big") & mask)
            i = left << self.half | right
            if i < self.length:
                return i

    def _index(self, k):
        p = (self.rank + k * self.world_size) % self.length
        return self._permuted(p) if self.shuffle else p

    def _per_rank(self):
        q, r = divmod(self.length, self.world_size)
        return q if self.drop_last or r == 0 else q + 1

    def __len__(self):
        q, r = divmod(self._per_rank(), self.batch_size)
        return q if self.drop_last or r == 0 else q + 1

    def __iter__(self):
        if not self.loaded:
            self.count = 0
        self.loaded = False
        return self._run()

    def _run(self):
        n = self._per_rank()
        while self.count < len(self):
            start = self.count * self.batch_size
            batch = [self._index(k) for k in range(start, min(start + self.batch_size, n))]
            self.count += 1
            yield batch

    def set_epoch(self, epoch):
        if epoch != self.epoch:
            self.epoch, self.count, self.loaded = epoch, 0, False

    def state_dict(self):
        return {"epoch": self.epoch, "count": self.count, "length": self.length, "seed": self.seed,
                "batch_size": self.batch_size, "world_size": self.world_size, "version": 1}

    def load_state_dict(self, state):
        wanted = (self.length, self.seed, self.batch_size, self.world_size)
        if (state["length"], state["seed"], state["batch_size"], state["world_size"]) != wanted:
            raise ValueError("state")
        self.epoch, self.count, self.loaded = state["epoch"], state["count"], True
