"""Known wrong answers to data_parallel."""

from graders.kata import Mistake

FILLED = "for tensor in (*module.parameters(), *module.buffers()):"
COPIED = "tensor.copy_(comm.broadcast(tensor, 0))"
START = f"""        with torch.no_grad():
            {FILLED}
                {COPIED}
"""
ORDER = "self.order = [p for p in reversed([*module.parameters()]) if p.requires_grad]"
HOOKS = """        for parameter in self.order:
            parameter.register_post_accumulate_grad_hook(self.complete)
"""
CALLED = "return self.module(*args)"
READY = """        self.ready.add(parameter)
        while len(self.handles) < len(self.order) and self.order[len(self.handles)] in self.ready:
            self.send_next()
"""
GRAD = "grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad"
SENT = "self.handles.append(self.comm.all_reduce(grad, async_op=True))"
LEFT = """        while len(self.handles) < len(self.order):
            self.send_next()
"""
WAITED = "for parameter, handle in zip(self.order, self.handles, strict=True):"
MEAN = "parameter.grad = handle.wait() / self.comm.world_size"
RESET = "self.ready, self.handles = set(), []\n        # --- end"
NO_OVERLAP = {HOOKS: ""}
EARLIER = {  # gradients are sent as soon as a hook has them, in the order of the hooks
    READY: "        self.ready.add(parameter)\n        self.order.remove(parameter)\n"
    "        self.order.insert(len(self.handles), parameter)\n        self.send_next()\n"
}
STAR = """        comm, W = self.comm, self.comm.world_size
        for parameter in self.order:
            grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            if comm.rank == 0:
                mean = sum((comm.recv(other) for other in range(1, W)), grad) / W
                for other in range(1, W):
                    comm.send(mean, other)
            else:
                comm.send(grad, 0)
                mean = comm.recv(0)
            parameter.grad = mean
"""
MISTAKES = (
    Mistake(
        "summed",
        "the gradients are summed over ranks; divide by W",
        {MEAN: "parameter.grad = handle.wait()"},
    ),
    Mistake(
        "divided_twice",
        "the gradients are divided by W twice; divide once, before or after the all_reduce",
        {MEAN: "parameter.grad = handle.wait() / self.comm.world_size**2"},
    ),
    Mistake(
        "divided_by_the_root",
        "the gradients are divided by √W; the mean divides by W",
        {MEAN: "parameter.grad = handle.wait() / self.comm.world_size**0.5"},
    ),
    Mistake(
        "not_reduced",
        "each rank keeps its own gradients; all_reduce them",
        {MEAN: "handle.wait()"},
        {SENT: "self.handles.append(None)", MEAN: "pass"},
    ),
    Mistake(
        "gradients_of_rank_0",
        "all ranks get rank 0's gradients; take the mean over ranks",
        {
            SENT: "self.handles.append(self.comm.broadcast(grad, 0, async_op=True))",
            MEAN: "parameter.grad = handle.wait()",
        },
    ),
    Mistake(
        "gradients_gathered",
        "every rank gathers all ranks' gradients, W times what is needed; all_reduce them",
        {
            SENT: "self.handles.append(self.comm.all_gather(grad, async_op=True))",
            MEAN: "parameter.grad = torch.stack(handle.wait()).mean(0)",
        },
        {
            SENT: "self.handles.append(self.comm.all_gather(grad, async_op=True))",
            MEAN: "parameter.grad = torch.stack(handle.wait()).mean(0)",
        }
        | NO_OVERLAP,
    ),
    Mistake(
        "all_to_rank_0",
        "all ranks send their gradients to one rank, which sends the mean back: it has W times as much to do; "
        "all_reduce them",
        {LEFT: STAR, f"        {WAITED}\n            {MEAN}\n": ""} | NO_OVERLAP,
    ),
    Mistake(
        "sent_after_backward",
        "all gradients are sent after backward; begin with each one as soon as it is complete, while backward goes on",
        NO_OVERLAP,
    ),
    Mistake(
        "waits_within_backward",
        "each rank waits within backward, in a hook; begin with async_op=True and wait in finish",
        {
            SENT: "self.handles.append(self.comm.all_reduce(grad))",
            MEAN: "parameter.grad = handle / self.comm.world_size",
        },
        {SENT: f"{SENT}\n        self.handles[-1].wait()"},
    ),
    Mistake(
        "order_of_the_parameters",
        "gradients are sent in the order of the parameters, so the first layer's, complete last, holds up all others; "
        "send them from the last to the first",
        {ORDER: "self.order = [p for p in module.parameters() if p.requires_grad]"},
    ),
    Mistake(
        "order_of_the_hooks",
        "gradients are sent in the order in which they become complete, which differs from rank to rank, so gradients "
        "of different parameters are added; fix one order for all ranks",
        EARLIER,
        {
            READY: "        self.ready.add(parameter)\n"
            "        self.handles.append((parameter, self.comm.all_reduce(parameter.grad, async_op=True)))\n",
            LEFT: "        for parameter in self.order:\n            if parameter not in self.ready:\n"
            "                grad = torch.zeros_like(parameter)\n"
            "                self.handles.append((parameter, self.comm.all_reduce(grad, async_op=True)))\n",
            WAITED: "for parameter, handle in self.handles:",
        },
        {
            READY: "        self.ready.add(parameter)\n"
            "        self.handles.append((parameter, self.comm.all_reduce(parameter.grad, async_op=True)))\n",
            LEFT: "",
            WAITED: "for parameter, handle in self.handles:",
        },
    ),
    Mistake(
        "unused_left_out",
        "a parameter that this rank did not use is not sent, and other ranks wait for it or take another one for it; "
        "send zeros",
        {LEFT: "        self.order = [one for one in self.order if one.grad is not None]\n" + LEFT} | NO_OVERLAP,
        {LEFT: "", WAITED: "for parameter, handle in zip(self.order, self.handles):"},
        {
            LEFT: LEFT.replace("self.send_next()", "self.handles.append(None)"),
            MEAN: f"if handle is not None:\n                {MEAN}",
        },
        {
            LEFT: """        while len(self.handles) < len(self.order):
            if self.order[len(self.handles)].grad is None:
                self.handles.append(None)
            else:
                self.send_next()
""",
            MEAN: f"if handle is not None:\n                {MEAN}",
        },
    ),
    Mistake(
        "sent_before_it_is_in_grad",
        "gradients are sent in a hook of the tensor, which runs before they are in .grad; use a post-accumulate hook",
        {
            HOOKS: "        for parameter in self.order:\n"
            "            parameter.register_hook(lambda _, p=parameter: self.complete(p))\n"
        },
    ),
    Mistake(
        "sent_at_each_module",
        "gradients are sent when a module's backward ends, before they are in .grad or other uses are added; use a "
        "hook of the parameter",
        {
            HOOKS: "        self.sent: list[Any] = []\n        for one in module.modules():\n"
            "            one.register_full_backward_hook(self.early)\n",
            "    def send_next(self) -> None:": "    def early(self, module: nn.Module, *_: Any) -> None:\n"
            "        for one in module.parameters(recurse=False):\n            if one.requires_grad:\n"
            "                grad = torch.zeros_like(one) if one.grad is None else one.grad\n"
            "                self.sent.append((one, self.comm.all_reduce(grad, async_op=True)))\n\n"
            "    def send_next(self) -> None:",
            LEFT: "",
            WAITED: "for parameter, handle in self.sent:",
            RESET: "self.sent = []\n        # --- end",
        },
    ),
    Mistake(
        "reduced_within_autograd",
        "the gradient is reduced within autograd, at a tensor's hook, so no rank may leave a parameter out and each "
        "waits within backward; send complete gradients, and wait in finish",
        {
            HOOKS: "        for parameter in self.order:\n"
            "            parameter.register_hook(lambda grad: comm.all_reduce(grad) / comm.world_size)\n",
            f"{LEFT}        {WAITED}\n            {MEAN}\n": "",
        },
    ),
    Mistake(
        "tied_weights_twice",
        "a weight that two layers share is sent and divided twice; count each parameter once",
        {
            ORDER: "named = reversed([*module.named_parameters(remove_duplicate=False)])\n"
            "        self.order = [p for _, p in named if p.requires_grad]"
        },
        {
            ORDER: "named = reversed([*module.named_parameters(remove_duplicate=False)])\n"
            "        self.order = [p for _, p in named if p.requires_grad]",
            LEFT: "        for parameter in self.order:\n            grad = parameter.grad\n"
            "            grad = torch.zeros_like(parameter) if grad is None else grad\n"
            "            parameter.grad = self.comm.all_reduce(grad) / self.comm.world_size\n",
            f"        {WAITED}\n            {MEAN}\n": "",
        }
        | NO_OVERLAP,
    ),
    Mistake(
        "frozen_sent",
        "frozen parameters are also sent in each step; only those that require grad have gradients",
        {
            ORDER: "self.order = [*reversed([*module.parameters()])]",
            HOOKS: HOOKS.replace("self.order", "[p for p in self.order if p.requires_grad]"),
        },
        {ORDER: "self.order = [*reversed([*module.parameters()])]", HOOKS: ""},
    ),
    Mistake(
        "not_filled",
        "the ranks start with different weights; fill them with rank 0's",
        {START: ""},
    ),
    Mistake(
        "buffers_not_filled",
        "the buffers are not filled, so running means and the like differ; broadcast them as well",
        {FILLED: "for tensor in module.parameters():"},
    ),
    Mistake(
        "only_the_state_dict_filled",
        "buffers that are not persistent are missing in state_dict(), so they are not filled; take module.buffers()",
        {FILLED: "for tensor in module.state_dict().values():"},
    ),
    Mistake(
        "only_floats_filled",
        "buffers of whole numbers and of bool are not filled; broadcast them as well",
        {
            FILLED: "every = (*module.parameters(), *module.buffers())\n"
            "            for tensor in [one for one in every if one.is_floating_point()]:"
        },
    ),
    Mistake(
        "frozen_not_filled",
        "frozen parameters are not filled; they also differ from rank to rank",
        {FILLED: "for tensor in (*(p for p in module.parameters() if p.requires_grad), *module.buffers()):"},
    ),
    Mistake(
        "filled_with_the_mean",
        "the ranks start with the mean of their weights; fill them with rank 0's",
        {COPIED: "tensor.copy_(comm.all_reduce(tensor.double()) / comm.world_size)"},
    ),
    Mistake(
        "filled_from_another_rank",
        "the weights come from another rank than 0",
        {COPIED: "tensor.copy_(comm.broadcast(tensor, comm.world_size - 1))"},
    ),
    Mistake(
        "not_filled_in_place",
        "parameters get new memory, or new ones take their place, so views that the caller holds keep the old numbers; "
        "copy_ into them",
        {COPIED: "tensor.data = comm.broadcast(tensor, 0)"},
    ),
    Mistake(
        "one_argument",
        "forward takes one argument only; pass all on",
        {"def forward(self, *args: Any) -> Any:": "def forward(self, x: Any) -> Any:", CALLED: "return self.module(x)"},
    ),
    Mistake(
        "not_reset",
        "what was noted in one backward is still there in the next; forget it in finish",
        {RESET: "self.handles = []\n        # --- end"},
    ),
    Mistake(
        "hooks_pile_up",
        "each forward registers hooks again, so there are more and more of them; register them once, in __init__",
        {
            CALLED: "for parameter in self.order:\n"
            "            parameter.register_post_accumulate_grad_hook(self.complete)\n        " + CALLED
        },
    ),
    Mistake(
        "weights_averaged",
        "the weights are averaged in place of the gradients; Adam and momentum then see the rank's own gradients",
        {
            SENT: "self.handles.append(self.comm.all_reduce(parameter.detach(), async_op=True))",
            MEAN: "parameter.data.copy_(handle.wait() / self.comm.world_size)",
        },
    ),
    Mistake(
        "weights_sent_in_forward",
        "rank 0's weights are sent in each forward; equal starts and equal gradients keep them alike",
        {
            CALLED: "for parameter in self.module.parameters():\n"
            "            parameter.data.copy_(self.comm.broadcast(parameter, 0))\n        " + CALLED
        },
        NO_OVERLAP
        | {
            CALLED: "for parameter in self.module.parameters():\n"
            "            parameter.data.copy_(self.comm.broadcast(parameter, 0))\n        " + CALLED
        },
    ),
)
WORLDS = "the numbers of ranks that the contract names"
FIXED = {"length of ranks": WORLDS, "ranks": "which of them has its turn first is drawn", "axis 0 of x": WORLDS}
ONE_EACH = "by then each parameter has a handle"
EQUIVALENT = {
    "for parameter, handle in zip(self.order, self.handles, strict=True): -> "
    "for parameter, handle in zip(self.order, self.handles):": ONE_EACH,
    "for parameter, handle in zip(self.order, self.handles, strict=True): -> "
    "for parameter, handle in zip(self.order, self.handles, strict=False):": ONE_EACH,
}
