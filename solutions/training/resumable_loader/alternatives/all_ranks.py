"""The state counts the samples of all ranks."""

import torch


class ShardedLoader:
    def __init__(self, length, batch_size, rank=0, world_size=1, shuffle=True, seed=0, drop_last=False):
        if length < 0 or batch_size < 1:
            raise ValueError("length should be >= 0, batch_size >= 1")
        if rank not in range(world_size):
            raise ValueError("rank should be in range(world_size)")
        self.length, self.batch_size, self.rank, self.world_size = length, batch_size, rank, world_size
        self.shuffle, self.seed, self.drop_last = bool(shuffle), int(seed), drop_last
        self.epoch = 0
        self.samples_done = 0
        self._keep = False

    @property
    def _step(self):
        return self.batch_size * self.world_size

    def _batches(self):
        order = torch.arange(self.length)
        if self.shuffle and self.length:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed((self.seed << 20) ^ (self.epoch * 0x9E3779B1 % 2**40))
                order = torch.randperm(self.length)
        order = order.tolist()
        w = self.world_size
        if self.drop_last:
            order = order[: len(order) - len(order) % w]
        else:
            k = 0
            while len(order) % w:
                order.append(order[k])
                k += 1
        out = []
        for start in range(0, len(order), self._step):
            batch = order[start : start + self._step][self.rank :: w]
            if len(batch) == self.batch_size or not self.drop_last:
                out.append(batch)
        return out

    def __len__(self):
        padded = self.length - self.length % self.world_size
        if not self.drop_last and self.length % self.world_size:
            padded += self.world_size
        return padded // self._step if self.drop_last else -(-padded // self._step)

    def __iter__(self):
        if not self._keep:
            self.samples_done = 0
        self._keep = False
        for batch in self._batches()[self.samples_done // self._step :]:
            self.samples_done += self._step
            yield list(batch)

    def set_epoch(self, epoch):
        if self.epoch == epoch:
            return
        self.epoch = epoch
        self.samples_done = 0
        self._keep = False

    def state_dict(self):
        return dict(epoch=self.epoch, samples=self.samples_done, length=self.length, seed=self.seed,
                    step=[self.batch_size, self.world_size])

    def load_state_dict(self, state):
        if state["length"] != self.length or state["seed"] != self.seed:
            raise ValueError("another dataset or seed")
        if state["step"] != [self.batch_size, self.world_size]:
            raise ValueError("another batch size or world size")
        self.epoch = state["epoch"]
        self.samples_done = state["samples"]
        self._keep = True
