"""Known wrong answers to tensor_parallel_mlp."""

from graders.kata import Mistake

ENTERED = "self.fc1(CopyIn.apply(x, self.comm))"
HIDDEN = f"hidden = F.gelu({ENTERED})"
SUMMED = "total: Tensor = SumOut.apply(self.fc2(hidden), self.comm)"
RETURNED = "return total + self.bias"
REDUCED = "return ctx.comm.all_reduce(grad), None"
COPIED = "ctx.comm = comm\n        return x.view_as(x)"
ADDED = "total: Tensor = comm.all_reduce(x)\n        return total"
PASSED = "return grad, None"

MISTAKES = (
    Mistake(
        "bias_added_by_every_rank",
        "the bias is added before the sum over ranks, so it counts W times; add it after the sum",
        {SUMMED: "total: Tensor = SumOut.apply(self.fc2(hidden) + self.bias, self.comm)", RETURNED: "return total"},
    ),
    Mistake(
        "bias_on_rank_0",
        "only rank 0 adds the bias, so on the other ranks no gradient reaches it; add it after the sum, on every rank",
        {
            SUMMED: "part = self.fc2(hidden)\n        if self.comm.rank == 0:\n            part = part + self.bias\n"
            "        total: Tensor = SumOut.apply(part, self.comm)",
            RETURNED: "return total",
        },
    ),
    Mistake(
        "gradient_of_x_not_summed",
        "each rank's gradient of x is only the part that went through its own hidden units; add them up in backward",
        {ENTERED: "self.fc1(x)"},
        {REDUCED: "return grad, None"},
    ),
    Mistake(
        "gradient_of_x_averaged",
        "the gradient of x is the mean of the ranks' parts; it is their sum",
        {REDUCED: "return ctx.comm.all_reduce(grad) / ctx.comm.world_size, None"},
    ),
    Mistake(
        "reduced_again_in_backward",
        "the gradient of the output is summed over ranks, but every rank has all of it, so it counts W times; pass it "
        "on",
        {
            ADDED: f"ctx.comm = comm\n        {ADDED}",
            f"# TODO: what is the gradient with respect to this rank's part of the sum?\n        {PASSED}": "return "
            "ctx.comm.all_reduce(grad), None",
        },
    ),
    Mistake(
        "no_gradient_through_the_sum",
        "all_reduce gives a tensor without a graph, so no gradient reaches the weights; write an autograd Function",
        {SUMMED: "total: Tensor = self.comm.all_reduce(self.fc2(hidden))"},
    ),
    Mistake(
        "not_summed",
        "the ranks' parts of the output are not added up; all_reduce them",
        {SUMMED: "total = self.fc2(hidden)"},
    ),
    Mistake(
        "averaged",
        "the output is the mean of the ranks' parts; it is their sum",
        {ADDED: "total: Tensor = comm.all_reduce(x) / comm.world_size\n        return total"},
        {SUMMED: f"{SUMMED} / self.comm.world_size"},
    ),
    Mistake(
        "gradient_of_bias_summed",
        "the gradient of bias is summed over ranks, but each rank has all of it already; leave it as it is",
        {RETURNED: "return total + CopyIn.apply(self.bias, self.comm)"},
    ),
    Mistake(
        "gradient_of_bias_divided",
        "bias / W is summed over ranks: the values are right, but its gradient is divided by W; add the bias once",
        {RETURNED: "return total + SumOut.apply(self.bias / self.comm.world_size, self.comm)"},
    ),
    Mistake(
        "bias_without_gradient",
        "the bias is added by .data or detached, so no gradient reaches it; add the parameter",
        {RETURNED: "return total + self.bias.detach()"},
    ),
    Mistake(
        "bias_in_fc2",
        "fc2 has a bias of its own, which each rank would add; give it none, and add one bias after the sum",
        {"embed_dim, bias=False)": "embed_dim)"},
    ),
    Mistake(
        "hidden_gathered",
        "all ranks' hidden units are gathered on every rank; each needs its own alone",
        {
            HIDDEN: f"own = {ENTERED}\n        parts = self.comm.all_gather(own)\n        parts[self.comm.rank] = own\n"
            "        hidden = F.gelu(torch.cat(parts, -1)).chunk(self.comm.world_size, -1)[self.comm.rank]"
        },
    ),
    Mistake(
        "output_gathered",
        "the ranks' parts of the output are gathered and added on every rank; one all_reduce sends less",
        {
            SUMMED: "part = self.fc2(hidden)\n        parts = self.comm.all_gather(part)\n"
            "        parts[self.comm.rank] = part\n        total = torch.stack(parts).sum(0)"
        },
    ),
    Mistake("gelu_by_tanh", {HIDDEN: f'hidden = F.gelu({ENTERED}, approximate="tanh")'}),
    Mistake(
        "another_activation",
        "the activation is another one; here it is the exact GELU",
        {HIDDEN: [f"hidden = F.relu({ENTERED})", f"hidden = F.silu({ENTERED})", f"hidden = {ENTERED}"]},
    ),
    Mistake(
        "gelu_after_the_sum",
        "the GELU is applied to the output; it belongs between the two layers",
        {HIDDEN: f"hidden = {ENTERED}", RETURNED: "return F.gelu(total) + self.bias"},
    ),
    Mistake(
        "reduced_without_need",
        "x gets a gradient even if it asks for none, and backward sends it; leave x as it is",
        {ENTERED: "self.fc1(CopyIn.apply(x if x.requires_grad else x.detach().requires_grad_(), self.comm))"},
    ),
    Mistake(
        "gradients_kept",
        "the gradients of earlier backward passes are kept, and added to the next one; pass on the one that came",
        {
            COPIED: f"CopyIn.came = []  # type: ignore[attr-defined]\n        {COPIED}",
            REDUCED: "CopyIn.came.append(grad)  # type: ignore[attr-defined]\n        return ctx.comm.all_reduce(sum("
            "[one for one in CopyIn.came if one.shape == grad.shape])), None  # type: ignore[attr-defined]",
        },
    ),
    Mistake(
        "not_waited_for",
        "the all_reduce is begun and its result not waited for; call wait(), or leave async_op out",
        {REDUCED: "ctx.comm.all_reduce(grad, async_op=True)\n        return grad, None"},
    ),
    Mistake(
        "whole_layers",
        "each rank has all hidden units; it should have hidden_dim / W of them",
        {
            "nn.Linear(embed_dim, hidden_dim // comm.world_size)": "nn.Linear(embed_dim, hidden_dim)",
            "nn.Linear(hidden_dim // comm.world_size, embed_dim": "nn.Linear(hidden_dim, embed_dim",
        },
    ),
)
WORLDS = "the numbers of ranks that the contract names"
FIXED = {"length of ranks": WORLDS, "ranks": "which of them has its turn first is drawn"}
EQUIVALENT = {"return x.view_as(x) -> return x": "torch makes a view of an input that a Function returns as it is"}
