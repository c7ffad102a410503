"""The order goes round for ever, of which a rank takes every W-th place."""

from itertools import cycle, islice
from random import Random


class ShardedLoader:
    def __init__(self, length, batch_size, rank=0, world_size=1, shuffle=True, seed=0, drop_last=False):
        for ok, what in ((length >= 0, "length"), (batch_size >= 1, "batch_size"), (0 <= rank < world_size, "rank")):
            if not ok:
                raise ValueError(f"{what} is out of range")
        self.a = (length, batch_size, world_size, seed)
        self.rank, self.shuffle, self.drop_last = rank, shuffle, drop_last
        self.epoch = 0
        self.handed = 0
        self.pending = None

    @property
    def share(self):
        n, _, w, _ = self.a
        return n // w + (0 if self.drop_last or n % w == 0 else 1)

    def __len__(self):
        return self.share // self.a[1] + (0 if self.drop_last or self.share % self.a[1] == 0 else 1)

    def order(self):
        n, _, _, seed = self.a
        perm = list(range(n))
        if self.shuffle:
            perm = Random(seed * 2654435761 + self.epoch * 40503 + 1).sample(perm, n)
        return perm

    def __iter__(self):
        start, self.pending = self.pending or 0, None
        self.handed = start
        n, b, w, _ = self.a
        mine = islice(cycle(self.order()), self.rank, self.rank + self.share * w, w)
        for _ in islice(mine, start * b):
            pass
        while self.handed < len(self):
            batch = list(islice(mine, b))
            self.handed += 1
            yield batch

    def set_epoch(self, epoch):
        if epoch == self.epoch:
            return
        self.epoch, self.handed, self.pending = epoch, 0, None

    def state_dict(self):
        return {"for": list(self.a), "epoch": self.epoch, "batches": self.handed}

    def load_state_dict(self, state):
        assert tuple(state["for"]) == self.a
        self.epoch = state["epoch"]
        self.handed = self.pending = state["batches"]
