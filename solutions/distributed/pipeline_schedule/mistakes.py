"""Known wrong answers to pipeline_schedule."""

from graders.kata import Mistake

REFUSED = "if stages < 1 or microbatches < 1:…\n    if not 0"
INSIDE = "if not 0 <= stage < stages:"
AHEAD = "ahead = min(stages - stage - 1, microbatches)"
STEPS = 'steps = [("F", i) for i in range(ahead)]…return steps'
PAIR = """        if ahead + i < microbatches:
            steps.append(("F", ahead + i))
        steps.append(("B", i))
"""
KEPT = "kept: dict[int, tuple[Tensor, Tensor]] = {}"
LOOP = "for step, i in schedule(r, comm.world_size, m):"
CAME = "x = inputs[i] if r == 0 else comm.recv(r - 1).requires_grad_()"
SENT = "comm.send(y.detach(), r + 1)"
LOSS = "y = loss_fn(y, i) / m"
ADDED = "mean += y.item()"
POPPED = "x, y = kept.pop(i)"
BACKWARD = "y.backward(comm.recv(r + 1) if r < last else None)"
GRADIENT = "comm.send(x.grad, r - 1)"
RETURNED = "return mean if r == last else None"
ALL_F = '[("F", i) for i in range(microbatches)]'
ALL_B = '[("B", i) for i in range(microbatches)]'

MISTAKES = (
    Mistake(
        "gpipe",
        "all forward passes come before the first backward pass, so a stage holds all microbatches (GPipe); begin "
        "backward passes as soon as a gradient can come",
        {STEPS: f"return {ALL_F} + {ALL_B}"},
        {LOOP: 'for step, i in [("F", k) for k in range(m)] + [("B", k) for k in range(m)]:'},
    ),
    Mistake(
        "one_at_a_time",
        "a microbatch is forward and backward before the next one begins, so all other stages wait; let stages work on "
        "several microbatches at once",
        {STEPS: 'return [(step, i) for i in range(microbatches) for step in "FB"]'},
        {LOOP: 'for step, i in [(one, k) for k in range(m) for one in "FB"]:'},
    ),
    Mistake(
        "warm_up_one_too_many",
        "there is one forward pass too many before the first backward pass; stages − stage − 1 come before the first "
        "pair of F and B",
        {AHEAD: "ahead = min(stages - stage, microbatches)"},
        {LOOP: "for step, i in schedule(r, comm.world_size + 1, m):"},
    ),
    Mistake(
        "warm_up_one_too_few",
        "there is one forward pass too few before the first backward pass; stages − stage − 1 come before the first "
        "pair of F and B",
        {AHEAD: "ahead = min(max(stages - stage - 2, 0), microbatches)"},
    ),
    Mistake(
        "warm_up_counted_from_the_front",
        "later stages warm up longer; the first stage has the longest warm-up, stages − 1 forward passes",
        {AHEAD: "ahead = min(stage, microbatches)"},
    ),
    Mistake(
        "same_warm_up_everywhere",
        "every stage warms up like the first one; stage s has stages − s − 1 forward passes",
        {AHEAD: "ahead = min(stages - 1, microbatches)"},
        {LOOP: "for step, i in schedule(0, comm.world_size, m):"},
    ),
    Mistake(
        "warm_up_not_limited",
        "the warm-up has more forward passes than there are microbatches; take the smaller number",
        {AHEAD: "ahead = stages - stage - 1"},
        {
            AHEAD: "ahead = stages - stage - 1",
            "for i in range(microbatches):": "for i in range(min(microbatches - ahead, 0), microbatches):",
        },
    ),
    Mistake(
        "backward_before_forward",
        "each pair is B, then F, so the last stage would go backward first; in each pair F comes first",
        {
            PAIR: PAIR.replace('        steps.append(("B", i))\n', "").replace(
                "        if", '        steps.append(("B", i))\n        if', 1
            )
        },
    ),
    Mistake(
        "last_in_first_out",
        "the latest microbatch goes backward first; the oldest one does, since its gradient comes first",
        {"return steps": "done = len(steps) - ahead\n    return steps[:done] + steps[done:][::-1]"},
        {'steps.append(("B", i))': 'steps.append(("B", microbatches - 1 - i))'},
    ),
    Mistake(
        "cool_down_left_out",
        "the backward passes after the last forward pass are missing; every microbatch goes backward",
        {PAIR: PAIR.replace('        steps.append(("B", i))\n', '            steps.append(("B", i))\n')},
    ),
    Mistake(
        "outer_stages_not_refused",
        "a stage that is negative, or not below stages, is not refused; raise ValueError",
        {INSIDE: "if stage >= stages:"},
        {INSIDE: "if stage < 0:"},
        {INSIDE: "if stage > stages or stage < 0:"},
    ),
    Mistake(
        "not_divided",
        "the gradients are of the sum of the losses; divide each loss by the number of microbatches",
        {LOSS: "y = loss_fn(y, i)", ADDED: "mean += y.item() / m"},
    ),
    Mistake(
        "sum_returned",
        "the sum of the losses is returned; return their mean",
        {ADDED: "mean += y.item() * m"},
        {LOSS: "y = loss_fn(y, i)", ADDED: "mean += y.item()"},
    ),
    Mistake(
        "mean_divided_twice",
        "each loss is divided by the number of microbatches twice; divide it once",
        {ADDED: "mean += y.item() / m"},
        {LOSS: "y = loss_fn(y, i) / m / m"},
    ),
    Mistake(
        "divided_by_the_stages",
        "the losses are divided by the number of stages; divide by the number of microbatches",
        {LOSS: "y = loss_fn(y, i) / comm.world_size"},
    ),
    Mistake(
        "divided_on_every_stage",
        "every stage divides the gradients again; the loss is divided once, on the last stage",
        {BACKWARD: "y.backward(comm.recv(r + 1) / m if r < last else None)"},
        {GRADIENT: "comm.send(x.grad / m, r - 1)"},
    ),
    Mistake(
        "weighted_by_rows",
        "microbatches count by their numbers of rows; every microbatch counts the same",
        {LOSS: "y = loss_fn(y, i) * len(y) / m"},
    ),
    Mistake(
        "last_loss_only",
        "only the last microbatch's loss is returned; return the mean of all",
        {ADDED: "mean = y.item() * m"},
        {ADDED: "mean = y.item()"},
    ),
    Mistake(
        "always_microbatch_0",
        "loss_fn is told that each output is of microbatch 0; pass i",
        {LOSS: "y = loss_fn(y, 0) / m"},
    ),
    Mistake(
        "loss_on_every_rank",
        "every rank returns a number; only the last one has a loss, and the others return None",
        {RETURNED: "return mean"},
    ),
    Mistake(
        "loss_is_a_tensor",
        "the loss is returned as a tensor; return a float",
        {ADDED: "mean += y.detach()"},
        {ADDED: "mean = mean + y"},
    ),
    Mistake(
        "input_asks_for_no_gradient",
        "what is received asks for no gradient, so there is none to send back; call requires_grad_ on it",
        {CAME: "x = inputs[i] if r == 0 else comm.recv(r - 1)"},
        {
            CAME: "x = inputs[i] if r == 0 else comm.recv(r - 1)",
            GRADIENT: "comm.send(torch.zeros_like(x) if x.grad is None else x.grad, r - 1)",
            "from torch import Tensor, nn": "import torch\nfrom torch import Tensor, nn",
        },
    ),
    Mistake(
        "gradient_of_the_output_passed_on",
        "the gradient of the stage's output is sent back; send the gradient of its input",
        {
            BACKWARD: "grad = comm.recv(r + 1) if r < last else None\n            y.backward(grad)",
            GRADIENT: "comm.send(x.grad if grad is None or grad.shape != x.shape else grad, r - 1)",
        },
        {
            BACKWARD: "grad = comm.recv(r + 1) if r < last else x.detach() * 0 + 1\n            "
            "y.backward(grad if r < last else None)",
            GRADIENT: "comm.send(grad, r - 1)",
        },
    ),
    Mistake(
        "gradients_cleared",
        "gradients are cleared before each backward pass, so only the last microbatch's are left; let them add up",
        {POPPED: f"{POPPED}\n            module.zero_grad()"},
        {POPPED: f"{POPPED}\n            if r == last:\n                module.zero_grad()"},
    ),
    Mistake(
        "outputs_not_let_go",
        "inputs and outputs of microbatches that are backward are still held; let them go",
        {POPPED: "x, y = kept[i]"},
        {KEPT: f"{KEPT}\n    done = []", POPPED: f"{POPPED}\n            done.append((x, y))"},
        {POPPED: "x, y = kept[i]", BACKWARD: BACKWARD.replace("None)", "None, retain_graph=True)")},
    ),
    Mistake(
        "all_received_at_once",
        "a stage waits for all activations before its first forward pass; receive each one when its turn has come",
        {
            KEPT: f"{KEPT}\n    came = [comm.recv(r - 1) for _ in inputs] if r else inputs",
            CAME: "x = came[i] if r == 0 else came[i].requires_grad_()",
        },
    ),
    Mistake(
        "sent_too_late",
        "an output is sent only before the next backward pass, so the next stage waits; send it at once",
        {
            KEPT: f"{KEPT}\n    late: list[Tensor] = []",
            SENT: "late.append(y.detach())",
            POPPED: f"while late:\n                comm.send(late.pop(0), r + 1)\n            {POPPED}",
        },
    ),
    Mistake(
        "run_again_in_backward",
        "the forward pass runs again before each backward pass, which takes more time; keep the output",
        {
            "y = module(x)": "y = module(x)\n            again = x",
            "kept[i] = x, y": "kept[i] = x, again",
            POPPED: "x, y = kept.pop(i)\n            y = module(x)\n            if r == last:\n                "
            "y = loss_fn(y, i) / m",
        },
        {
            "y = module(x)\n            if r < last:\n                comm.send(y.detach(), r + 1)\n            else:\n"
            "                y = loss_fn(y, i) / m\n                mean += y.item()\n            "
            "kept[i] = x, y": "kept[i] = x, x\n            if r < last:\n                with torch.no_grad():\n"
            "                    comm.send(module(x), r + 1)",
            POPPED: "x, y = kept.pop(i)\n            y = module(x)\n            if r == last:\n                "
            "y = loss_fn(y, i) / m\n                mean += y.item()",
            "from torch import Tensor, nn": "import torch\nfrom torch import Tensor, nn",
        },
    ),
    Mistake(
        "whole_batch_at_once",
        "all microbatches go through as one batch, so only one stage works at a time; follow the schedule",
        {
            f"    {KEPT}…{RETURNED}": """    if r == 0:
        x = torch.cat([one for one in inputs if one is not None])
        sizes = torch.tensor([len(one) for one in inputs if one is not None])
    else:
        sizes, x = comm.recv(r - 1), comm.recv(r - 1).requires_grad_()
    y = module(x)
    if r < last:
        comm.send(sizes, r + 1)
        comm.send(y, r + 1)
        y.backward(comm.recv(r + 1))
    else:
        parts = y.split(sizes.tolist())
        y = torch.stack([loss_fn(one, i) for i, one in enumerate(parts)]).mean()
        y.backward()
    if r > 0:
        comm.send(x.grad, r - 1)
    return y.item() if r == last else None""",
            "from torch import Tensor, nn": "import torch\nfrom torch import Tensor, nn",
        },
    ),
    Mistake(
        "gradient_sent_by_stage_0",
        "stage 0 also sends a gradient, though nobody is before it; leave that out",
        {f"if r > 0:\n                {GRADIENT}": GRADIENT},
        {f"if r > 0:\n                {GRADIENT}": "comm.send(x if x.grad is None else x.grad, (r - 1) % (last + 1))"},
    ),
    Mistake(
        "inputs_ask_for_gradients",
        "the caller's inputs are made to ask for gradients; stage 0 needs none for them",
        {"y = module(x)": "if x.is_floating_point():\n                x.requires_grad_()\n            y = module(x)"},
    ),
    Mistake(
        "inputs_taken_from_the_list",
        "the caller's list is emptied; read it by index",
        {CAME: "x = inputs.pop(0) if r == 0 else comm.recv(r - 1).requires_grad_()"},
    ),
    Mistake(
        "index_sent_along",
        "each activation is announced by a message of its own, with its number or shape; the activation is enough",
        {
            SENT: "comm.send(torch.tensor(i), r + 1)\n                comm.send(y.detach(), r + 1)",
            CAME: "i = i if r == 0 else int(comm.recv(r - 1))\n            "
            "x = inputs[i] if r == 0 else comm.recv(r - 1).requires_grad_()",
            "from torch import Tensor, nn": "import torch\nfrom torch import Tensor, nn",
        },
        {
            SENT: "comm.send(torch.tensor(y.shape), r + 1)\n                comm.send(y.detach(), r + 1)",
            CAME: "_ = r and comm.recv(r - 1)\n            "
            "x = inputs[i] if r == 0 else comm.recv(r - 1).requires_grad_()",
            "from torch import Tensor, nn": "import torch\nfrom torch import Tensor, nn",
        },
    ),
)
EQUIVALENT = {
    "if stages < 1 or microbatches < 1: -> if stages < 0 or microbatches < 1:": "no stage is inside 0 stages, so "
    "the next line refuses it",
    "ahead = min(stages - stage - 1, microbatches) -> ahead = min(microbatches, stages - stage - 1)": "the smaller of "
    "two, in either order",
    "comm.send(y.detach(), r + 1) -> comm.send(y, r + 1)": "send copies the values alone",
}
ALL = "every seed has all of these small sizes, in another order"
FIXED = {
    "length of ranks": "the numbers of ranks that the contract names",
    "axis 0 of b": "the numbers of ranks that the contract names",
    "length of widths": "one more than there are ranks",
    "ranks": "which of them has its turn first is drawn",
    "rows": ALL,
    "widths": ALL,
    "axis 1 of targets": ALL,
}
