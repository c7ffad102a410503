"""Known wrong answers to fully_sharded."""

from graders.kata import Mistake

SAVED = "ctx.save_for_backward(x, shard)"
RUN = "return model.run(i, model.gathered(i, shard), x)"
LOADED = "x, shard = ctx.saved_tensors"
AGAIN = "weights = [one.requires_grad_() for one in ctx.model.gathered(ctx.i, shard)]"
GRADS = "torch.autograd.backward(y, grad)"
RETURNED = "return x.grad, ctx.model.scattered([one.grad for one in weights]), None, None…"
FLAT = "flat = [torch.cat([one.detach().flatten() for one in block.parameters()]) for block in blocks]"
OWN = "own = [one.tensor_split(comm.world_size)[comm.rank].clone() for one in flat]"
SHARDS = "self.shards = nn.ParameterList(own)"
BLOCKS = 'self.blocks = [block.to("meta") for block in blocks]'
GATHERED = "flat = torch.cat(self.comm.all_gather(shard))"
PARTS = "parts = flat.split([shape.numel() for shape in self.shapes[i]])"
SHAPED = "return [part.view(shape) for part, shape in zip(parts, self.shapes[i], strict=True)]"
REDUCED = "total: Tensor = self.comm.reduce_scatter(list(flat.tensor_split(W)))"
MEAN = "return total / W"
EACH = "for i, shard in enumerate(self.shards):\n            x = OneBlock.apply(x, shard, self, i)"
FULL = "return [self.gathered(i, shard) for i, shard in enumerate(self.shards)]"
BY_NAME = (
    "return [\n            [one for _, one in sorted(zip(self.names[i], self.gathered(i, shard), strict=True), "
    "key=lambda pair: pair[0])]\n            for i, shard in enumerate(self.shards)\n        ]"
)

MISTAKES = (
    Mistake(
        "sum_for_mean",
        "the gradients are the sum over ranks; divide by the number of ranks",
        {MEAN: "return total"},
    ),
    Mistake(
        "divided_twice",
        "the gradients are divided by the number of ranks twice; once makes them the mean",
        {MEAN: "return total / W / W"},
    ),
    Mistake(
        "not_reduced",
        "each rank keeps the gradients of its own batch; reduce_scatter them",
        {REDUCED: "total = flat.tensor_split(W)[self.comm.rank].clone()", MEAN: "return total"},
        {REDUCED: "total = flat.tensor_split(W)[self.comm.rank].clone()"},
    ),
    Mistake(
        "all_reduced",
        "all gradients are all-reduced, and each rank takes its part: twice the bytes; reduce_scatter gives it only "
        "the part",
        {REDUCED: "total = self.comm.all_reduce(flat).tensor_split(W)[self.comm.rank].clone()"},
        {REDUCED: "total = self.comm.all_reduce(flat).tensor_split(W)[self.comm.rank]"},
    ),
    Mistake(
        "gradients_gathered",
        "every rank gathers all ranks' gradients and adds them up; reduce_scatter sends 1/W of it",
        {REDUCED: "total = torch.stack(self.comm.all_gather(flat)).sum(0).tensor_split(W)[self.comm.rank].clone()"},
    ),
    Mistake(
        "another_rank_s_part",
        "a rank gets the gradients of another rank's part of the weights; give reduce_scatter the parts in the order "
        "of the ranks",
        {REDUCED: "total: Tensor = self.comm.reduce_scatter(list(flat.tensor_split(W))[::-1])"},
        {
            REDUCED: "parts = flat.tensor_split(W)\n        total: Tensor = self.comm.reduce_scatter([*parts[1:], "
            "parts[0]])"
        },
    ),
    Mistake(
        "another_rank_s_shard",
        "a rank keeps another rank's part of the weights; rank r keeps part r, so that gathered parts are in order",
        {OWN: OWN.replace("[comm.rank]", "[(comm.rank + 1) % comm.world_size]")},
        {OWN: OWN.replace("[comm.rank]", "[comm.rank - 1]")},
    ),
    Mistake(
        "weights_kept_for_backward",
        "the gathered weights are kept until backward, so that after forward every rank has all of them; let them "
        "go, and gather them again",
        {
            RUN: "ctx.weights = model.gathered(i, shard)\n        return model.run(i, ctx.weights, x)",
            AGAIN: "weights = [one.requires_grad_() for one in ctx.weights]",
        },
        {
            EACH: "for i, shard in enumerate(self.shards):\n            x = self.run(i, self.gathered(i, "
            "Whole.apply(shard, self)), x)",
            GATHERED: "flat = shard if len(shard) == sum(one.numel() for one in self.shapes[i]) and "
            "shard.requires_grad and not shard.is_leaf else torch.cat(self.comm.all_gather(shard))",
            "\n\nclass FullySharded": "\n\nclass Whole(torch.autograd.Function):\n    @staticmethod\n    def "
            "forward(ctx: Any, shard: Tensor, model: Any) -> Tensor:\n        ctx.model = model\n        return "
            "torch.cat(model.comm.all_gather(shard))\n\n    @staticmethod\n    def backward(ctx: Any, grad: Tensor) "
            "-> tuple[Tensor, None]:  # type: ignore[override]\n        return ctx.model.scattered([grad]), "
            "None\n\n\nclass FullySharded",
        },
    ),
    Mistake(
        "weights_kept_for_ever",
        "gathered weights stay in a cache and are never let go; gather them anew each time",
        {
            "self.comm = comm": "self.comm = comm\n        self.kept: dict[int, Tensor] = {}",
            GATHERED: "flat = self.kept.setdefault(i, torch.cat(self.comm.all_gather(shard)))",
        },
        {
            "self.comm = comm": "self.comm = comm\n        self.kept: dict[int, Tensor] = {}",
            GATHERED: "if i not in self.kept:\n            self.kept[i] = "
            "torch.cat(self.comm.all_gather(shard))\n        flat = self.kept[i]",
        },
    ),
    Mistake(
        "gradients_kept_whole",
        "whole gradients of all blocks are kept after backward; keep this rank's part of them, and let the rest go",
        {
            "self.comm = comm": "self.comm = comm\n        self.grads: dict[int, list[Tensor]] = {}",
            GRADS: f"{GRADS}\n        ctx.model.grads[ctx.i] = [one.grad for one in weights]",
        },
    ),
    Mistake(
        "all_gathered_at_once",
        "all blocks' weights are gathered before the first block runs; gather each one when it runs",
        {
            EACH: "whole = [self.gathered(i, shard) for i, shard in enumerate(self.shards)]\n        self.whole = "
            f"whole\n        {EACH}\n        del self.whole, whole",
            RUN: "return model.run(i, model.whole[i], x)",
        },
    ),
    Mistake(
        "weights_not_let_go",
        "once the model is made, a rank still holds all weights: in the blocks, or since a shard is a view of them; "
        "empty the blocks, and clone the shard",
        {BLOCKS: "self.blocks = [block for block in blocks]"},
        {BLOCKS: "self.blocks = nn.ModuleList(blocks)"},
        {OWN: "own = [one.tensor_split(comm.world_size)[comm.rank] for one in flat]"},
    ),
    Mistake(
        "nothing_sharded",
        "every rank holds all weights, and gradients are all-reduced: that is plain data parallelism; keep 1/W of "
        "each block",
        {
            OWN: "own = [one.clone() for one in flat]",
            GATHERED: "flat = shard.detach().clone()",
            REDUCED: "total: Tensor = self.comm.all_reduce(flat)",
        },
    ),
    Mistake(
        "gradient_overwritten",
        "backward sets .grad, so a second backward pass overwrites the first; return the gradient, and autograd adds "
        "it",
        {
            RETURNED: "ctx.model.shards[ctx.i].grad = ctx.model.scattered([one.grad for one in weights])\n        "
            "return x.grad, None, None, None  # type: ignore[return-value]"
        },
    ),
    Mistake(
        "gradient_of_x_averaged",
        "the gradient of x is averaged over ranks; each rank has its own x and loss, so leave it as it is",
        {
            RETURNED: "return ctx.model.comm.all_reduce(x.grad) / ctx.model.comm.world_size, "
            "ctx.model.scattered([one.grad for one in weights]), None, None"
        },
        {
            RETURNED: "return x.grad / ctx.model.comm.world_size, ctx.model.scattered([one.grad for one in "
            "weights]), None, None"
        },
    ),
    Mistake(
        "gradients_detached_from_the_first_blocks",
        "no gradient goes on to the blocks before; return the gradient of x as well",
        {RETURNED: "return torch.zeros_like(x), ctx.model.scattered([one.grad for one in weights]), None, None"},
        {
            RETURNED: "return None, ctx.model.scattered([one.grad for one in weights]), None, None  # type: "
            "ignore[return-value]"
        },
    ),
    Mistake(
        "x_without_a_gradient",
        "x itself gets no gradient; in the first block as well, return the gradient of x",
        {RETURNED: RETURNED.removesuffix("…").replace("x.grad", "x.grad if ctx.i else None")},
    ),
    Mistake(
        "output_s_gradient_ignored",
        "backward takes the gradient of the block's sum; start from the gradient that comes in",
        {GRADS: "y.sum().backward()"},
    ),
    Mistake(
        "weights_of_the_first_step",
        "full_parameters gives the weights as they were at its first call; gather them each time",
        {
            "self.comm = comm": "self.comm = comm\n        self.first: list[list[Tensor]] = []",
            FULL: f"self.first = self.first or {FULL.removeprefix('return ')}\n        return self.first",
        },
    ),
    Mistake(
        "parameters_sorted_by_name",
        "full_parameters sorts the weights by name; give them in the order of block.parameters()",
        {FULL: BY_NAME},
    ),
    Mistake(
        "own_part_returned",
        "full_parameters returns this rank's part alone; gather all parts",
        {FULL: "return [[shard.detach().clone()] for shard in self.shards]"},
    ),
    Mistake(
        "cut_by_chunk",
        "`chunk` can give fewer parts than ranks; use tensor_split, or pad",
        {
            OWN: "own = [one.chunk(comm.world_size)[comm.rank].clone() for one in flat]",
            REDUCED: "total: Tensor = self.comm.reduce_scatter(list(flat.chunk(W)))",
        },
    ),
    Mistake(
        "rest_left_out",
        "parts have n // W numbers, and what is left over is in none of them; use tensor_split, or pad",
        {
            OWN: "size = [len(one) // comm.world_size for one in flat]\n        own = [one[comm.rank * n : "
            "(comm.rank + 1) * n].clone() for one, n in zip(flat, size, strict=True)]\n        self.rest = [one[n * "
            "comm.world_size :] for one, n in zip(flat, size, strict=True)]",
            GATHERED: "flat = torch.cat([*self.comm.all_gather(shard), self.rest[i]])",
            REDUCED: "n = len(flat) // W\n        total: Tensor = self.comm.reduce_scatter([flat[k * n : (k + 1) * "
            "n] for k in range(W)])",
        },
    ),
    Mistake(
        "transposed_weights",
        "the gathered weights are cut in another order than they were joined; keep the order of block.parameters()",
        {PARTS: "parts = flat.split([shape.numel() for shape in self.shapes[i]][::-1])[::-1]"},
    ),
    Mistake(
        "order_of_gathers_differs",
        "ranks gather the blocks in different orders, so they meet in different collectives; keep one order",
        {
            FULL: "order = range(len(self.shards))[:: 1 if self.comm.rank % 2 else -1]\n        found = {i: "
            "self.gathered(i, self.shards[i]) for i in order}\n        return [found[i] for i in "
            "range(len(self.shards))]"
        },
    ),
    Mistake(
        "gathered_too_often",
        "weights are gathered more than three times in a step; forward and backward need one gather each, and one "
        "more if the block runs again",
        {AGAIN: f"for _ in range(2):\n            ctx.model.gathered(ctx.i, shard)\n        {AGAIN}"},
        {RUN: f"for _ in range(2):\n            model.gathered(i, shard)\n        {RUN}"},
    ),
    Mistake(
        "without_gradients_from_the_empty_blocks",
        "without gradients the blocks run with the weights that they no longer have; gather in that case as well",
        {
            EACH: "if not torch.is_grad_enabled():\n            return nn.Sequential(*self.blocks)(x)  # type: "
            f"ignore[no-any-return]\n        {EACH}"
        },
    ),
    Mistake(
        "left_on_torch",
        "ranks leave their shards on a module that all of them import; processes do not share it: gather them",
        {
            GATHERED: "whole = torch.whole = getattr(torch, 'whole', {})\n        "
            "whole[i, self.comm.rank] = shard.detach()\n        self.comm.all_gather(shard[:0])\n        "
            "flat = torch.cat([whole[i, rank] for rank in range(self.comm.world_size)])",
        },
    ),
    Mistake(
        "shared_dict",
        "ranks leave their shards in a dict of the module, which another rank has not: each has a copy of its own; "
        "gather them",
        {
            "\n\nclass FullySharded": "\n\nwhole: dict[tuple[int, int], Tensor] = {}\n\n\nclass FullySharded",
            GATHERED: "whole[i, self.comm.rank] = shard.detach()\n        self.comm.all_gather(shard[:0])\n        "
            "flat = torch.cat([whole[i, rank] for rank in range(self.comm.world_size)])",
        },
    ),
)
LENGTHS = "both have one length"
RUN_SO = "y: Tensor = functional_call(self.blocks[i], dict(zip(self.names[i], weights, strict=True)), (x,))"
VIEWED = "return [part.view(shape) for part, shape in zip(parts, self.shapes[i], strict=True)]"
EQUIVALENT = {
    f"{FLAT} -> {FLAT.replace('.detach()', '')}": "nn.Parameter detaches it",
    f"{VIEWED} -> {VIEWED.replace(', strict=True', '')}": LENGTHS,
    f"{VIEWED} -> {VIEWED.replace('strict=True', 'strict=False')}": LENGTHS,
    f"{RUN_SO} -> {RUN_SO.replace(', strict=True', '')}": LENGTHS,
    f"{RUN_SO} -> {RUN_SO.replace('strict=True', 'strict=False')}": LENGTHS,
    f"{REDUCED} -> {REDUCED.replace('list(flat.tensor_split(W))', 'flat.tensor_split(W)')}": "a tuple does as well",
}
ALL = "every seed has all of these small sizes, in another order"
WORLDS = "the numbers of ranks that the contract names"
FIXED = {
    "length of ranks": WORLDS,
    "axis 0 of x": WORLDS,
    "axis 0 of g": WORLDS,
    "ranks": "which of them has its turn first is drawn",
    "axis 1 of *": ALL,
    "axis 0 of w": ALL,
    "length of widths": ALL,
    "widths": ALL,
}
