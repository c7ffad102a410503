"""Flat buckets, each sent once its last gradient is complete."""

import torch
import torch.nn as nn
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors


class _Bucket:
    def __init__(self, params):
        self.params, self.missing, self.handle = params, set(params), None

    def flat(self):
        return _flatten_dense_tensors([torch.zeros_like(p) if p.grad is None else p.grad for p in self.params])


class DataParallel(nn.Module):
    def __init__(self, comm, module, bucket_numbers=16):
        super().__init__()
        self.module, self.comm = module, comm
        for tensor in list(module.parameters()) + list(module.buffers()):
            tensor.data.copy_(comm.broadcast(tensor.data, src=0))
        self.buckets, self.of, current, count = [], {}, [], 0
        for p in list(module.parameters())[::-1]:
            if not p.requires_grad:
                continue
            if current and (count + p.numel() > bucket_numbers or p.dtype != current[0].dtype):
                self.buckets.append(_Bucket(current))
                current, count = [], 0
            current.append(p)
            count += p.numel()
        if current:
            self.buckets.append(_Bucket(current))
        for bucket in self.buckets:
            for p in bucket.params:
                self.of[p] = bucket
                p.register_post_accumulate_grad_hook(self.hook)
        self.next = 0

    def hook(self, p):
        self.of[p].missing.discard(p)
        while self.next < len(self.buckets) and not self.buckets[self.next].missing:
            self.start()

    def start(self):
        bucket = self.buckets[self.next]
        bucket.handle = self.comm.all_reduce(bucket.flat(), async_op=True)
        self.next += 1

    def forward(self, *args):
        return self.module(*args)

    def finish(self):
        while self.next < len(self.buckets):
            self.start()
        for bucket in self.buckets:
            mean = bucket.handle.wait().div_(self.comm.world_size)
            grads = [torch.zeros_like(p) for p in bucket.params]
            for p, g in zip(bucket.params, _unflatten_dense_tensors(mean, grads)):
                if p.grad is None:
                    p.grad = g.clone()
                else:
                    p.grad.copy_(g)
            bucket.missing, bucket.handle = set(bucket.params), None
        self.next = 0
