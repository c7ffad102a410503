import torch


class ShardedLoader:
    def __init__(self, length, batch_size, rank=0, world_size=1, shuffle=True, seed=0, drop_last=False):
        if length < 0:
            raise ValueError("length must be >= 0")
        if batch_size < 1:
            raise ValueError("batch_size must be >= 1")
        if not 0 <= rank < world_size:
            raise ValueError("rank must be in [0, world_size)")
        self.length, self.batch_size = length, batch_size
        self.rank, self.world_size = rank, world_size
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self.epoch = 0
        self.done = 0
        self.resume = False

    def _share(self):
        if self.shuffle:
            g = torch.Generator()
            g.manual_seed(hash((self.seed, self.epoch)) % (2**63))
            order = torch.randperm(self.length, generator=g).tolist()
        else:
            order = list(range(self.length))
        if self.drop_last:
            order = order[: self.length // self.world_size * self.world_size]
        elif order:
            total = -(-self.length // self.world_size) * self.world_size
            order = (order * (total // len(order) + 1))[:total]
        return order[self.rank :: self.world_size]

    def __len__(self):
        share = self.length // self.world_size if self.drop_last else -(-self.length // self.world_size)
        return share // self.batch_size if self.drop_last else -(-share // self.batch_size)

    def __iter__(self):
        if not self.resume:
            self.done = 0
        self.resume = False
        share = self._share()
        for b in range(self.done, len(self)):
            self.done = b + 1
            yield share[b * self.batch_size : (b + 1) * self.batch_size]

    def set_epoch(self, epoch):
        if epoch != self.epoch:
            self.epoch = epoch
            self.done = 0
            self.resume = False

    def state_dict(self):
        return {"epoch": self.epoch, "done": self.done, "length": self.length, "seed": self.seed,
                "batch_size": self.batch_size, "world_size": self.world_size}

    def load_state_dict(self, state):
        for name in ("length", "seed", "batch_size", "world_size"):
            if state[name] != getattr(self, name):
                raise ValueError(f"{name} differs")
        self.epoch, self.done, self.resume = state["epoch"], state["done"], True
