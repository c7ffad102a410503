"""The iterator is a class, and tells the loader how many samples it has handed out."""

import random


class _Batches:
    def __init__(self, loader, indices, start):
        self.loader, self.indices, self.at = loader, indices, start

    def __iter__(self):
        return self

    def __next__(self):
        size = self.loader.batch_size
        batch = self.indices[self.at : self.at + size]
        if not batch or (self.loader.drop_last and len(batch) < size):
            raise StopIteration
        self.at += size
        self.loader.position = self.at
        return batch


class ShardedLoader:
    def __init__(self, length, batch_size, rank=0, world_size=1, shuffle=True, seed=0, drop_last=False):
        assert length >= 0 and batch_size >= 1
        assert world_size >= 1 and 0 <= rank < world_size
        self.config = {"length": length, "batch_size": batch_size, "seed": seed, "world_size": world_size}
        self.length, self.batch_size, self.rank, self.world_size = length, batch_size, rank, world_size
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self.epoch, self.position, self.fresh = 0, 0, True

    def indices(self):
        n, w = self.length, self.world_size
        order = list(range(n))
        if self.shuffle:
            random.Random(f"{self.seed}/{self.epoch}").shuffle(order)
        per_rank = n // w if self.drop_last else (n + w - 1) // w
        return [order[(self.rank + k * w) % n] for k in range(per_rank)]

    def __iter__(self):
        if self.fresh:
            self.position = 0
        self.fresh = True
        return _Batches(self, self.indices(), self.position)

    def __len__(self):
        n, w, b = self.length, self.world_size, self.batch_size
        if self.drop_last:
            return n // w // b
        return ((n + w - 1) // w + b - 1) // b

    def set_epoch(self, epoch):
        if self.epoch != epoch:
            self.epoch, self.position, self.fresh = epoch, 0, True

    def state_dict(self):
        return {**self.config, "epoch": self.epoch, "position": self.position}

    def load_state_dict(self, state):
        for key, value in self.config.items():
            if state.get(key) != value:
                raise ValueError(f"{key}: state has {state.get(key)}, loader has {value}")
        self.epoch, self.position, self.fresh = state["epoch"], state["position"], False
