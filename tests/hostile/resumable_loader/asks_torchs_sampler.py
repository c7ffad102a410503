# cheat: has the sampler of torch.utils.data share and shuffle; must fail
import torch
from torch.utils.data import DistributedSampler, BatchSampler


class ShardedLoader:
    def __init__(self, length, batch_size, rank=0, world_size=1, shuffle=True, seed=0, drop_last=False):
        if length < 0 or batch_size < 1 or not 0 <= rank < world_size:
            raise ValueError
        self.known = [length, batch_size, world_size, seed]
        self.length = length
        self.sampler = DistributedSampler(range(length), world_size, rank, shuffle, seed, drop_last)
        self.batches = BatchSampler(self.sampler, batch_size, drop_last)
        self.done, self.loaded = 0, False

    def __len__(self):
        return len(self.batches) if self.length else 0

    def __iter__(self):
        if not self.loaded:
            self.done = 0
        self.loaded = False
        skip = self.done
        if not self.length:
            return
        for n, batch in enumerate(self.batches):
            if n >= skip:
                self.done = n + 1
                yield batch

    def set_epoch(self, epoch):
        if epoch != self.sampler.epoch:
            self.done, self.loaded = 0, False
        self.sampler.set_epoch(epoch)

    def state_dict(self):
        return {"known": list(self.known), "epoch": self.sampler.epoch, "done": self.done}

    def load_state_dict(self, state):
        if state["known"] != self.known:
            raise ValueError
        self.sampler.set_epoch(state["epoch"])
        self.done, self.loaded = state["done"], True
