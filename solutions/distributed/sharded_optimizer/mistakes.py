"""Known wrong answers to sharded_optimizer."""

from graders.kata import Mistake

KEPT = "self.comm, self.params = comm, list(params)"
OWN = "own = [self.chunks(p)[comm.rank] for p in self.params]"
M, V = "self.m = [torch.zeros_like(one) for one in own]", "self.v = [torch.zeros_like(one) for one in own]"
CUT = "return list(x.detach().flatten().tensor_split(self.comm.world_size))"
NONE = "if p.grad is None:\n                continue"
MEAN = "g = self.comm.reduce_scatter(self.chunks(p.grad)) / self.comm.world_size"
COUNTED = "            self.t[i] += 1\n"
FIRST = "m = self.m[i].mul_(beta1).add_((1 - beta1) * g)"
SECOND = "v = self.v[i].mul_(beta2).add_((1 - beta2) * g.square())"
M_HAT, V_HAT = "m_hat = m / (1 - beta1 ** self.t[i])", "v_hat = v / (1 - beta2 ** self.t[i])"
MOVED = "own = self.chunks(p)[self.comm.rank] - self.lr * m_hat / (v_hat.sqrt() + self.eps)"
GATHERED = "whole = torch.cat(self.comm.all_gather(own))"
COPIED = "p.copy_(whole.view(p.shape))"
BETAS = "beta1, beta2 = self.betas"
LOOP = "for i, p in enumerate(self.params):"
ZEROED = "for p in self.params:\n            p.grad = None"
MINE = "[self.comm.rank]"
ON_WHOLE = {  # every rank updates all of each parameter
    OWN: "own = [p.detach().flatten() for p in self.params]",
    MOVED: MOVED.replace("self.chunks(p)[self.comm.rank]", "p.flatten()"),
    GATHERED: "whole = own",
}
ALL_REDUCED = "self.comm.all_reduce(p.grad).flatten() / self.comm.world_size"
MISTAKES = (
    Mistake(
        "state_not_sharded",
        "every rank keeps the moments of all parameters, as plain Adam after an all_reduce does: the values are right, "
        "and no memory is saved; keep a share",
        ON_WHOLE | {MEAN: f"g = {ALL_REDUCED}"},
        {
            OWN: "own = [p.detach().flatten() for p in self.params]",
            FIRST: "m, v = (self.chunks(one[i])[self.comm.rank] for one in (self.m, self.v))\n"
            "            m.mul_(beta1).add_((1 - beta1) * g)",
            SECOND: "v.mul_(beta2).add_((1 - beta2) * g.square())",
        },
    ),
    Mistake(
        "not_reduced",
        "each rank steps by its own gradients; take their mean over ranks",
        ON_WHOLE | {MEAN: "g = p.grad.flatten()"},
        {MEAN: f"g = self.chunks(p.grad){MINE}"},
    ),
    Mistake(
        "parameters_averaged",
        "each rank takes Adam's step for its own gradients, and the parameters are averaged; average gradients, before "
        "the moments",
        ON_WHOLE
        | {
            MEAN: "g = p.grad.flatten()",
            GATHERED: "whole = self.comm.all_reduce(own) / self.comm.world_size",
        },
    ),
    Mistake(
        "summed",
        "the gradients are summed over ranks, which Adam nearly hides; divide by W",
        {MEAN: "g = self.comm.reduce_scatter(self.chunks(p.grad))"},
    ),
    Mistake(
        "divided_twice",
        "the gradients are divided by W twice, which Adam nearly hides; divide once",
        {MEAN: f"{MEAN}**2"},
    ),
    Mistake(
        "gradients_gathered",
        "all ranks' gradients are gathered on every rank; reduce_scatter them",
        {MEAN: f"g = self.chunks(torch.stack(self.comm.all_gather(p.grad)).mean(0)){MINE}"},
        ON_WHOLE | {MEAN: "g = torch.stack(self.comm.all_gather(p.grad)).mean(0).flatten()"},
    ),
    Mistake(
        "all_reduced",
        "gradients are all_reduced, and a rank then uses 1/W of them; a reduce_scatter sends half as much",
        {MEAN: f"g = self.chunks(self.comm.all_reduce(p.grad)){MINE} / self.comm.world_size"},
    ),
    Mistake(
        "all_on_rank_0",
        "one rank keeps all moments and takes the whole step, and sends parameters to the others; give each a share",
        {
            OWN: "own = [p.detach().flatten()[: p.numel() * (comm.rank == 0)] for p in self.params]",
            MEAN: f"g = {ALL_REDUCED}\n            if self.comm.rank > 0:\n"
            "                p.copy_(self.comm.broadcast(p, 0))\n                continue",
            MOVED: MOVED.replace("self.chunks(p)[self.comm.rank]", "p.flatten()"),
            GATHERED: "whole = self.comm.broadcast(own.view(p.shape), 0)",
        },
    ),
    Mistake(
        "not_gathered",
        "each rank moves its own share, and the rest of the parameter stays as it was; all_gather the shares",
        {GATHERED: f"whole = p.flatten()\n            self.chunks(whole){MINE}.copy_(own)"},
        {GATHERED: f"parts = self.chunks(p)\n            parts{MINE} = own\n            whole = torch.cat(parts)"},
    ),
    Mistake(
        "shares_in_another_order",
        "the shares are not joined in the order of the ranks",
        {GATHERED: "whole = torch.cat(self.comm.all_gather(own)[::-1])"},
    ),
    Mistake(
        "one_step_count",
        "t counts every call of step, so a parameter whose gradient was None is corrected wrongly; count each "
        "parameter's own steps",
        {COUNTED: "", BETAS: f"self.t = [t + 1 for t in self.t]\n        {BETAS}"},
    ),
    Mistake(
        "moments_change_hands",
        "shares are cut anew from the parameters that have gradients, so moments meet elements of others; cut all "
        "parameters once",
        {
            LOOP: "live = [p for p in self.params if p.grad is not None]\n        for i, p in enumerate(live):",
            NONE: f"if self.m[i].shape != self.chunks(p){MINE}.shape:\n"
            f"                self.m[i], self.v[i] = (torch.zeros_like(self.chunks(p){MINE}) for _ in range(2))",
        },
    ),
    Mistake(
        "missing_gradient_as_0",
        "a gradient that is None counts as zeros, so the parameter goes on moving; skip it",
        {NONE: "if p.grad is None:\n                p.grad = torch.zeros_like(p)"},
    ),
    Mistake(
        "parameters_replaced",
        "the parameter gets new memory, so views of it keep the old numbers; copy into it",
        {COPIED: "p.data = whole.view(p.shape)"},
    ),
    Mistake(
        "written_to_a_copy",
        "reshape(-1) or flatten() of a strided parameter is a copy, so the step is lost; copy_ into the parameter",
        {COPIED: "p.reshape(-1).copy_(whole)"},
        {COPIED: "p.flatten().copy_(whole)"},
    ),
    Mistake(
        "view_of_strided",
        "view(-1) refuses parameters that are strided; copy_ into the parameter itself",
        {COPIED: "p.view(-1).copy_(whole)"},
    ),
    Mistake(
        "rest_left_out",
        "shares have n // W numbers, and what is left over never moves; use tensor_split",
        {
            CUT: "size = x.numel() // self.comm.world_size\n"
            "        return [x.detach().flatten()[r * size : (r + 1) * size] for r in range(self.comm.world_size)]",
            GATHERED: f"{GATHERED}\n            whole = torch.cat([whole, p.flatten()[len(whole) :]])",
        },
    ),
    Mistake(
        "cut_by_chunk",
        "`chunk` can give fewer chunks than ranks; use tensor_split",
        {CUT: "return list(x.detach().flatten().chunk(self.comm.world_size))"},
    ),
    Mistake(
        "padding_written_back",
        "shares are filled up with zeros, and the padding is taken for numbers of the parameter; cut it off",
        {
            CUT: "flat = x.detach().flatten()\n        W = self.comm.world_size\n"
            "        flat = torch.cat([flat, flat.new_zeros(-len(flat) % W)])\n        return list(flat.view(W, -1))",
            GATHERED: f"{GATHERED}\n            whole = whole[len(whole) - p.numel() :]",
        },
        {
            CUT: "flat = x.detach().flatten()\n        W = self.comm.world_size\n"
            "        flat = torch.cat([flat, flat.new_zeros(-len(flat) % W)])\n        return list(flat.view(W, -1))",
            COPIED: "p.data = whole if p.dim() == 1 else whole[: p.numel()].view(p.shape)",
        },
    ),
    Mistake(
        "no_correction",
        "the moments are not corrected for their start at 0; divide them by 1 − βᵗ",
        {M_HAT: "m_hat = m", V_HAT: "v_hat = v"},
        {M_HAT: "m_hat = m"},
        {V_HAT: "v_hat = v"},
    ),
    Mistake(
        "eps_in_the_root",
        "eps is added inside the root; add it after the root",
        {MOVED: MOVED.replace("(v_hat.sqrt() + self.eps)", "(v_hat + self.eps).sqrt()")},
    ),
    Mistake(
        "eps_before_the_correction",
        "eps is added before v is corrected, so it is divided as well; correct v, take the root, then add eps",
        {MOVED: MOVED.replace("(v_hat.sqrt() + self.eps)", "(v.sqrt() + self.eps) * (1 - beta2 ** self.t[i]) ** 0.5")},
    ),
    Mistake("betas_swapped", "the two betas are swapped; the first belongs to m", {BETAS: "beta2, beta1 = self.betas"}),
    Mistake(
        "mean_of_squares",
        "v takes the mean over ranks of the squares; it takes the square of the mean gradient",
        {
            SECOND: "squares = self.comm.reduce_scatter(self.chunks(p.grad.square())) / self.comm.world_size\n"
            "            v = self.v[i].mul_(beta2).add_((1 - beta2) * squares)"
        },
    ),
    Mistake(
        "weight_decay",
        "the parameters are also shrunk, as AdamW does by default; here there is no weight decay",
        {
            MOVED: MOVED.replace(
                "self.chunks(p)[self.comm.rank] -", "self.chunks(p)[self.comm.rank] * (1 - self.lr * 0.01) -"
            )
        },
    ),
    Mistake(
        "moments_in_float32",
        "the moments are kept in float32; keep them in the dtype of the parameter",
        {
            M: "self.m = [torch.zeros_like(one, dtype=torch.float32) for one in own]",
            V: "self.v = [torch.zeros_like(one, dtype=torch.float32) for one in own]",
        },
    ),
    Mistake(
        "whole_copy_kept",
        "each rank keeps a second copy of all parameters; keep at most a copy of the share",
        {
            M: f"{M}\n        self.copies = [p.detach().clone() for p in self.params]",
            COPIED: f"{COPIED}\n            self.copies[i].copy_(p)",
        },
    ),
    Mistake(
        "iterated_twice",
        "`params` is iterated twice, and a generator is empty the second time; make a list of it",
        {
            KEPT: "self.comm, self.params = comm, params",
            "if not self.params:": "if not list(params):",
        },
    ),
    Mistake(
        "only_own_gradients_zeroed",
        "zero_grad leaves some gradients as they are; set all to None or to zeros",
        {ZEROED: "for p in self.params[:: self.comm.world_size]:\n            p.grad = None"},
        {ZEROED: "for p in self.params[self.comm.rank :: self.comm.world_size]:\n            p.grad = None"},
        {ZEROED: "pass"},
    ),
)
WORLDS = "the numbers of ranks that the contract names"
FIXED = {
    "length of ranks": WORLDS,
    "ranks": "which of them has its turn first is drawn",
    "axis 0 of gradients": WORLDS,
    "length of betas": "β₁ and β₂",
    "length of without": "a list for each of five steps",
    "length of form": "a list, a tuple or a generator",
}
EQUIVALENT = {
    "return list(x.detach().flatten().tensor_split(self.comm.world_size)) -> "
    "return x.detach().flatten().tensor_split(self.comm.world_size)": "a tuple does as well as a list",
    "return list(x.detach().flatten().tensor_split(self.comm.world_size)) -> "
    "return list(x.flatten().tensor_split(self.comm.world_size))": "what it cuts is read where nothing is recorded, or "
    "only for its shape",
}
