"""Hooks send the inputs' gradients."""

import torch

def schedule(stage, stages, microbatches):
    """1F1B: warm-up, steady state, cool-down."""
    if stages < 1 or microbatches < 1 or not 0 <= stage < stages:
        raise ValueError(f"bad arguments: {stage}, {stages}, {microbatches}")
    w = min(stages - stage - 1, microbatches)
    steps = [("F", i) for i in range(w)]
    for i in range(microbatches - w):
        steps.append(("F", w + i))
        steps.append(("B", i))
    for i in range(microbatches - w, microbatches):
        steps.append(("B", i))
    return steps


def run_stage(comm, module, inputs, loss_fn):
    r, m = comm.rank, len(inputs)
    up = (lambda t: comm.send(t, r + 1)) if r + 1 < comm.world_size else None
    down = (lambda t: comm.send(t, r - 1)) if r else None
    graph = [None] * m
    loss = torch.zeros((), dtype=torch.float64)
    for op, i in schedule(r, comm.world_size, m):
        if op == "F":
            x = comm.recv(r - 1).requires_grad_() if down else inputs[i]
            if down:
                x.register_hook(down)
            y = module(x)
            if up:
                up(y)
            else:
                y = loss_fn(y, i) / m
                loss += y.detach()
            graph[i] = y
        else:
            y, graph[i] = graph[i], None
            y.backward(comm.recv(r + 1)) if up else y.backward()
            del y
    return None if up else loss.item()
