"""Hooks for saved tensors: a number stands for each, and the first that backward needs has the function run again."""

import torch
from torch.autograd.graph import saved_tensors_hooks


def checkpoint(function, *args):
    state = torch.get_rng_state()
    count, again = 0, {}

    def pack(tensor):
        nonlocal count
        count += 1
        return count

    def pack_again(tensor):
        again[len(again) + 1] = tensor.detach()

    def unpack(number):
        if not again:
            now = torch.get_rng_state()
            torch.set_rng_state(state)
            with torch.enable_grad(), saved_tensors_hooks(pack_again, lambda _: None):
                function(*args)
            torch.set_rng_state(now)
        return again[number]

    with saved_tensors_hooks(pack, unpack):
        return function(*args)
