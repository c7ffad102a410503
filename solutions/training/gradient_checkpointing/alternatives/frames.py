"""A frame for each call, with an empty holder for each tensor that autograd saves, as torch's own checkpoint has."""

import torch


class Holder:
    tensor = None


class Frame:
    def __init__(self, function, args):
        self.function, self.args = function, args
        self.holders = []
        self.state = torch.get_rng_state()
        self.filled = False

    def pack(self, tensor):
        self.holders.append(Holder())
        return self.holders[-1]

    def unpack(self, holder):
        if not self.filled:
            self.fill()
        return holder.tensor

    def fill(self):
        self.filled = True
        waiting = iter(self.holders)

        def put(tensor):
            next(waiting).tensor = tensor.detach()

        detached = [x.detach().requires_grad_(x.requires_grad) if torch.is_tensor(x) else x for x in self.args]
        with torch.random.fork_rng(devices=[]):
            torch.set_rng_state(self.state)
            with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(put, lambda x: x):
                self.function(*detached)


def checkpoint(function, *args):
    frame = Frame(function, args)
    with torch.autograd.graph.saved_tensors_hooks(frame.pack, frame.unpack):
        return function(*args)
