# honest: goes on to the next epoch by itself, and draws its order from sorted uniform numbers; must pass
import math

import torch


class ShardedLoader:
    def __init__(self, length, batch_size, rank=0, world_size=1, shuffle=True, seed=0, drop_last=False):
        if length < 0 or batch_size < 1 or world_size < 1 or rank < 0 or rank >= world_size:
            raise ValueError("bad arguments")
        self.__dict__.update(length=length, batch_size=batch_size, rank=rank, world_size=world_size,
                             shuffle=shuffle, seed=seed, drop_last=drop_last)
        self._epoch, self._taken, self._loaded, self._begun = 0, 0, False, False

    def _order(self):
        if not self.shuffle:
            return torch.arange(self.length)
        g = torch.Generator().manual_seed(self.seed * 1_000_003 + self._epoch)
        return torch.rand(self.length, generator=g, dtype=torch.float64).argsort()

    def __len__(self):
        f = math.floor if self.drop_last else math.ceil
        return f(f(self.length / self.world_size) / self.batch_size)

    def __iter__(self):
        if self._loaded:
            self._loaded = False
        else:
            if self._begun:
                self._epoch += 1
            self._taken = 0
        self._begun = True
        order = self._order()
        share = math.floor(self.length / self.world_size) if self.drop_last else math.ceil(self.length / self.world_size)
        positions = torch.arange(share) * self.world_size + self.rank
        mine = order[positions % self.length] if share else order[:0]
        for chunk in list(mine.split(self.batch_size))[self._taken : len(self)]:
            self._taken += 1
            yield chunk.tolist()

    def set_epoch(self, epoch):
        if epoch != self._epoch:
            self._loaded, self._taken = False, 0
            self._epoch = epoch
            self._begun = False
        elif not self._loaded:
            self._begun = False

    def state_dict(self):
        return {"meta": [self.length, self.seed, self.batch_size, self.world_size], "where": [self._epoch, self._taken]}

    def load_state_dict(self, state):
        if list(state["meta"]) != [self.length, self.seed, self.batch_size, self.world_size]:
            raise ValueError("state of another loader")
        self._epoch, self._taken = state["where"]
        self._loaded, self._begun = True, True
