"""As in torch: DistributedSampler shares, and BatchSampler collects."""

import copy
import math

import torch


class ShardedLoader:
    def __init__(self, length, batch_size, rank=0, world_size=1, shuffle=True, seed=0, drop_last=False):
        if length < 0:
            raise ValueError(f"length={length}")
        if batch_size <= 0:
            raise ValueError(f"batch_size={batch_size}")
        if rank >= world_size or rank < 0:
            raise ValueError(f"rank={rank}")
        self.length = length
        self.batch_size = batch_size
        self.num_replicas = world_size
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        if drop_last and length % world_size != 0:
            self.num_samples = math.ceil((length - world_size) / world_size) if length >= world_size else 0
        else:
            self.num_samples = math.ceil(length / world_size)
        self.total_size = self.num_samples * world_size
        self.shuffle = shuffle
        self.seed = seed
        self._state = {"epoch": 0, "batches": 0}
        self._skip = None

    def _indices(self):
        if self.shuffle:
            g = torch.Generator()
            g.manual_seed(self.seed + 7919 * self.epoch)
            indices = torch.randperm(self.length, generator=g).tolist()
        else:
            indices = list(range(self.length))
        if not self.drop_last:
            padding = self.total_size - len(indices)
            if padding > 0:
                indices += (indices * math.ceil(padding / len(indices)))[:padding]
        else:
            indices = indices[: self.total_size]
        return indices[self.rank : self.total_size : self.num_replicas]

    def __len__(self):
        if self.drop_last:
            return self.num_samples // self.batch_size
        return (self.num_samples + self.batch_size - 1) // self.batch_size

    def __iter__(self):
        skip, self._skip = self._skip or 0, None
        self._state = {"epoch": self.epoch, "batches": skip}
        batch, seen = [], 0
        for index in self._indices():
            batch.append(index)
            if len(batch) == self.batch_size:
                seen += 1
                if seen > skip:
                    self._state["batches"] = seen
                    yield batch
                batch = []
        if batch and not self.drop_last and seen + 1 > skip:
            self._state["batches"] = seen + 1
            yield batch

    def set_epoch(self, epoch):
        if epoch != self.epoch:
            self.epoch = epoch
            self._skip = None
            self._state = {"epoch": epoch, "batches": 0}

    def state_dict(self):
        return copy.deepcopy({**self._state, "config": [self.length, self.batch_size, self.num_replicas, self.seed]})

    def load_state_dict(self, state):
        if state["config"] != [self.length, self.batch_size, self.num_replicas, self.seed]:
            raise ValueError("the state belongs to another loader")
        self.epoch = state["epoch"]
        self._skip = state["batches"]
        self._state = {"epoch": state["epoch"], "batches": state["batches"]}
