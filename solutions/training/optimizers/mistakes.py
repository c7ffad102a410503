"""Known wrong answers to optimizers."""

from graders.kata import Mistake

NO_GRAD = '@torch.no_grad()\n    def step(self) -> None:\n        """Moves each parameter that has a gradient, {}'
OF_SGD, OF_ADAM = NO_GRAD.format("in its"), NO_GRAD.format("and counts")
OF_ADAMW = OF_SGD.partition("Moves")[0] + "Shrinks"
LEFT_OFF = "def step(self) -> None:\n        torch.set_grad_enabled(False)"
SKIP = "            if p.grad is None:\n                continue\n            "
LIST, STAR = "list(params)  # a generator can be read only once", "[*params]"
GRAD, BUFFER = "g = p.grad + self.weight_decay * p  # a new tensor", "b = g if b is None else self.momentum * b + g"
MOVE = "p -= self.lr * (g + self.momentum * b if self.nesterov else b)"
STATE, L2 = "m, v = self.m[i], self.v[i]\n            ", "grad = p.grad + self.weight_decay * p"
COUNT = "            self.t[i] += 1\n"
FIRST, SECOND = "m.mul_(beta1).add_((1 - beta1) * grad)", "v.mul_(beta2).add_((1 - beta2) * grad.square())"
M_HAT, V_HAT = "m / (1 - beta1 ** self.t[i])", "v / (1 - beta2 ** self.t[i])"
UPDATE = "p -= self.lr * m_hat / (v_hat.sqrt() + self.eps)"
SHRINK = "p.mul_(1 - self.lr * self.decay)"
SHRINK_ALL = f"        for p in self.adam.params:\n            if p.grad is not None:\n                {SHRINK}\n"
INNER, STEP = "        self.adam.lr = self.lr\n", "        self.adam.step()\n"
ZERO, ZERO_SGD = "            parameter.grad = None", "            p.grad = None"
BY_SHAPE = "            i = [one.shape for one in self.params].index(p.shape)\n"
RATE = "self.lr, self.betas, self.eps"
ZEROS = "self.m = [torch.zeros_like(p) for p in self.params]"
TOPS = f"{ZEROS}\n        self.tops = [torch.zeros_like(p) for p in self.params]"
TOP = "self.tops[i].copy_(self.tops[i].maximum({}))"
EPS_TOO_EARLY = "p -= self.lr * m_hat / (v.sqrt() + self.eps) * (1 - beta2 ** self.t[i]) ** 0.5"

MISTAKES = (
    Mistake(
        "no_bias_correction",
        "a moment is used without its correction; divide m by 1 − β₁ᵗ, and v by 1 − β₂ᵗ",
        {M_HAT: "m", V_HAT: "v"},
        {M_HAT: "m"},
        {V_HAT: "v"},
    ),
    Mistake(
        "correction_kept",
        "the corrected moment is kept as the moment, so the next step corrects it again; keep m and v as they are",
        {"m_hat = …": f"m_hat = m.copy_({M_HAT})", "v_hat = …": f"v_hat = v.copy_({V_HAT})"},
        {"m_hat = …": f"m_hat = m.copy_({M_HAT})"},
        {"v_hat = …": f"v_hat = v.copy_({V_HAT})"},
    ),
    Mistake(
        "t_from_0",
        "t is 0 in the first step, so the correction divides by 0; count the step before the correction",
        {COUNT: "", UPDATE: f"{UPDATE}\n{COUNT.rstrip()}"},
    ),
    Mistake(
        "t_from_2",
        "t is 2 in the first step, so the correction is one step ahead; count each step once, so that t begins at 1",
        {COUNT: COUNT.replace("+= 1", "+= 1 + (self.t[i] == 0)")},
        {M_HAT: "m / (1 - beta1 ** (self.t[i] + 1))"},
        {V_HAT: "v / (1 - beta2 ** (self.t[i] + 1))"},
    ),
    Mistake(
        "one_t_for_all",
        "t also counts steps that skip the parameter, or other parameters' steps; count each parameter's own steps",
        {f"{SKIP}{STATE}{L2}\n{COUNT}": f"{COUNT}{SKIP}{STATE}{L2}\n"},
        {f"{SKIP}{STATE}{L2}\n{COUNT}": f"{COUNT}{SKIP}{STATE}{L2}\n", "if p.grad is not None": "if True"},
        {COUNT: f"{COUNT}            self.t = [max(self.t)] * len(self.t)\n"},
    ),
    Mistake(
        "eps_inside_the_root",
        "eps or its square is added under the root; add eps outside, to √v̂",
        {UPDATE: "p -= self.lr * m_hat / (v_hat + self.eps).sqrt()"},
        {UPDATE: "p -= self.lr * m_hat / (v_hat + self.eps**2).sqrt()"},
    ),
    Mistake(
        "eps_before_the_correction",
        "eps is added to the root of v before the correction, which then enlarges eps; correct v first",
        {UPDATE: EPS_TOO_EARLY},
        {UPDATE: EPS_TOO_EARLY, SHRINK_ALL: "", STEP: STEP + SHRINK_ALL},  # and AdamW shrinks p last
    ),
    Mistake(
        "eps_left_out",
        "eps is missing in the denominator; add it outside the root, to √v̂",
        {UPDATE: "p -= self.lr * m_hat / v_hat.sqrt()"},
    ),
    Mistake(
        "largest_v",
        "the largest v or v̂ so far is used, as in AMSGrad; use the present one, which can be smaller",
        {ZEROS: TOPS, V_HAT: V_HAT.replace("v", TOP.format("v"), 1)},
        {ZEROS: TOPS, V_HAT: TOP.format(V_HAT)},
    ),
    Mistake(
        "state_cleared_by_zero_grad",
        "zero_grad also clears buffers, moments or t; it should clear the gradients alone",
        {ZERO: f"{ZERO}\n        for state in (*self.m, *self.v):\n            state.zero_()"},
        {ZERO_SGD: f"{ZERO_SGD}\n        self.buffers = [None] * len(self.params)"},
        {ZERO: f"{ZERO}\n        self.t = [0] * len(self.params)"},
        {ZERO: f"{ZERO}\n        self.__init__(self.params, {RATE}, self.weight_decay)"},
    ),
    Mistake(
        "betas_swapped",
        "β₁ and β₂ are swapped; the first belongs to m, the second to v",
        {"beta1, beta2 = self.betas": "beta2, beta1 = self.betas"},
    ),
    Mistake(
        "beta_weighs_the_new",
        "the new gradient has the factor β, and the old moment 1 − β; swap the two factors",
        {FIRST: "m.mul_(1 - beta1).add_(beta1 * grad)"},
        {SECOND: "v.mul_(1 - beta2).add_(beta2 * grad.square())"},
    ),
    Mistake(
        "no_root",
        "m is divided by v itself; take the root of v",
        {UPDATE: "p -= self.lr * m_hat / (v_hat + self.eps)"},
    ),
    Mistake(
        "l2_in_adamw",
        "AdamW adds λp to the gradient, where the moments rescale it; only shrink p, and leave the gradient as it is",
        {"Adam(params, lr, betas, eps)": "Adam(params, lr, betas, eps, weight_decay)", SHRINK: "pass"},
        {"Adam(params, lr, betas, eps)": "Adam(params, lr, betas, eps, weight_decay)"},  # and shrinks p as well
    ),
    Mistake(
        "decoupled_in_adam",
        "Adam shrinks p directly, as AdamW does; add λp to the gradient instead",
        {L2: "p.mul_(1 - self.lr * self.weight_decay)\n            grad = p.grad"},
    ),
    Mistake(
        "decay_without_lr",
        "AdamW's decay lacks the factor lr; multiply p by 1 − lr · λ",
        {SHRINK: "p.mul_(1 - self.decay)"},
    ),
    Mistake(
        "adamw_without_default_decay",
        "AdamW's weight_decay is 0 by default, as Adam's is; its default is 0.01",
        {"weight_decay: float = 0.01": "weight_decay: float = 0.0"},
    ),
    Mistake(
        "decay_after_the_update",
        "AdamW shrinks p after Adam's step; shrink p first",
        {SHRINK_ALL: "", STEP: STEP + SHRINK_ALL},
    ),
    Mistake(
        "skipped_ones_decay",
        "AdamW shrinks a parameter that has no gradient; skip it",
        {"if p.grad is not None": "if True"},
    ),
    Mistake(
        "biases_not_shrunk",
        "AdamW does not shrink vectors and single numbers, such as biases; shrink each parameter that has a gradient",
        {"if p.grad is not None": "if p.grad is not None and p.dim() > 1"},
    ),
    Mistake(
        "decay_outside_momentum",
        "SGD's buffer lacks λp, at first or always; put λp in g before the buffer is updated, and nowhere else",
        {GRAD: "p.mul_(1 - self.lr * self.weight_decay)\n            g = p.grad.clone()"},
        {BUFFER: BUFFER.replace("= g if", "= (p.grad.clone() if self.momentum else g) if")},
    ),
    Mistake(
        "decay_needs_momentum",
        "SGD decays only with a momentum; add λp to the gradient in any case",
        {GRAD: "g = p.grad + bool(self.momentum) * self.weight_decay * p"},
    ),
    Mistake(
        "dampened",
        "the gradient enters SGD's buffer with a factor 1 − μ, in some steps or in all; its factor should always be 1",
        {BUFFER: "b = (1 - self.momentum) * g if b is None else self.momentum * b + (1 - self.momentum) * g"},
        {BUFFER: "b = (1 - self.momentum) * g if b is None else self.momentum * b + g"},
        {BUFFER: "b = g if b is None else self.momentum * b + (1 - self.momentum) * g"},
    ),
    Mistake(
        "lr_in_the_buffer",
        "the buffer adds up lr · g, so old gradients keep their old lr when lr changes; add up g, and multiply the "
        "step by lr",
        {
            BUFFER: BUFFER.replace("g", "self.lr * g"),
            MOVE: "p -= self.lr * g + self.momentum * b if self.nesterov else b",
        },
    ),
    Mistake(
        "nesterov_as_momentum",
        "Nesterov's step equals plain momentum's, at first or always, or lacks g or μ; move by lr · (g + μ b)",
        {MOVE: "p -= self.lr * b"},
        {MOVE: MOVE.replace("nesterov", "nesterov and b is not g")},
        {MOVE: "p -= self.lr * (self.momentum * b if self.nesterov else b)"},
        {MOVE: "p -= self.lr * (g + b if self.nesterov else b)"},
    ),
    Mistake(
        "nesterov_of_the_old_buffer",
        "Nesterov's g + μ b takes the old b, and enters the buffer; update b with g alone, and move by lr · (g + μ b)",
        {BUFFER: BUFFER.replace("+ g", "+ (g + self.momentum * b * self.nesterov)"), MOVE: "p -= self.lr * b"},
    ),
    Mistake(
        "lr_of_the_constructor",
        "an lr that is set later is ignored, or changes only a part of AdamW's step; read lr in every step, and pass "
        "it to any inner Adam",
        {INNER: ""},
        {
            "self.lr, self.decay = lr,": "self.first, self.lr, self.decay = lr, lr,",
            SHRINK: SHRINK.replace("lr", "first"),
        },
        {
            "self.lr, self.momentum,": "self.lr, self.first, self.momentum,",
            " = lr, momentum,": " = lr, lr, momentum,",
            MOVE: MOVE.replace("self.lr", "self.first"),
        },
        {
            RATE: f"self.first, {RATE}",
            "= lr, betas, eps, weight_decay": "= lr, lr, betas, eps, weight_decay",
            UPDATE: UPDATE.replace("self.lr", "self.first"),
            SHRINK: SHRINK.replace("self.lr", "self.adam.first"),
        },
    ),
    Mistake(
        "uphill",
        "p moves along the gradient; subtract the step, and any decay, from p",
        {MOVE: MOVE.replace("-=", "+=")},
        {UPDATE: UPDATE.replace("-=", "+="), SHRINK: [SHRINK, SHRINK.replace("-", "+")]},
    ),
    Mistake(
        "generator_kept",
        "params is kept as it came, and a generator can be read only once; make a list of it",
        {LIST: "params"},
        {STAR: "params"},
        {LIST: "params", "[None] * len(self.params)": "[None] * 99"},
        {STAR: "[*params]\n        self.read = [] if iter(params) is params else self.params"}
        | {UPDATE: f"{UPDATE}\n        self.params = self.read"},
    ),
    Mistake(
        "missing_gradient_is_zero",
        "a parameter whose .grad is None, or its buffer, is treated as if .grad were 0; skip both",
        {SKIP + GRAD: "            g = (0 if p.grad is None else p.grad) + self.weight_decay * p"},
        {SKIP + GRAD: SKIP.replace("continue", "self.buffers[i] *= self.momentum\n                continue") + GRAD}
        | {"[None] * len(self.params)": "[0.0] * len(self.params)"},
        {SKIP + STATE + L2: f"            {STATE}grad = (0 if p.grad is None else p.grad) + self.weight_decay * p"}
        | {"if p.grad is not None": ["if p.grad is not None", "if True"]},
    ),
    Mistake(
        "zeros_skipped",
        "a gradient of zeros is skipped; skip only a .grad of None, and let momentum, moments and decay go on",
        {SKIP + GRAD: SKIP.replace("None", "None or not p.grad.any()") + GRAD},
        {SKIP + STATE: SKIP.replace("None", "None or not p.grad.any()") + STATE}
        | {SHRINK: [SHRINK, SHRINK.replace("decay", "decay * bool(p.grad.any())")]},
    ),
    Mistake(
        "missing_gradient_ends_the_step",
        "the step ends at the first parameter whose .grad is None; skip it, and go on with the next",
        {SKIP + GRAD: SKIP.replace("continue", "break") + GRAD},
        {SKIP + STATE: SKIP.replace("continue", "break") + STATE}
        | {SHRINK: [SHRINK, f"{SHRINK}\n            else:\n                break"]},
    ),
    Mistake(
        "missing_gradient_fails",
        "a parameter whose .grad is None raises an error; skip it",
        {SKIP + GRAD: f"            {GRAD}"},
        {SKIP + STATE: f"            {STATE}"},
    ),
    Mistake(
        "state_by_shape",
        "some or all parameters share a buffer or a moment; each parameter needs its own",
        {SKIP + GRAD: BY_SHAPE + SKIP + GRAD},
        {SKIP + STATE: BY_SHAPE + SKIP + STATE},
        {
            ZEROS: "zeros = {p.shape: torch.zeros_like(p) for p in "
            "self.params}\n        self.m = [zeros[p.shape] for p in self.params]"
        },
        {SKIP + GRAD: f"{SKIP}{GRAD}\n            i = 0"},
        {SKIP + STATE: f"{SKIP}i = 0\n            {STATE}", ZEROS: "self.m = [0]", "self.v = …": "self.v = [0]"}
        | {FIRST: "m = self.m[0] = beta1 * m + (1 - beta1) * grad"}
        | {SECOND: "v = self.v[0] = beta2 * v + (1 - beta2) * grad.square()"},
    ),
    Mistake(
        "state_on_the_parameter",
        "the state stays with the parameter, so a second optimiser goes on with it; keep it in the optimiser",
        {
            ZEROS: "self.m = [p.__dict__.setdefault('m', torch.zeros_like(p)) for p in self.params]",
        },
        {
            "self.t = …": "self.m, self.v, self.t = self.params[0].__dict__.setdefault('s', (self.m, self.v, …))",
        },
        {
            "b = self.buffers[i]\n": "b = getattr(p, 'b', None)\n",
            BUFFER: f"p.b = {BUFFER}",
        },
    ),
    Mistake(
        "buffer_is_the_gradient",
        "the buffer starts as the tensor .grad itself, so a later gradient can overwrite it; start with a copy",
        {GRAD: "g = p.grad + self.weight_decay * p if self.weight_decay else p.grad"},
        {
            GRAD: "g = p.grad + self.weight_decay * p if self.weight_decay else p.grad",
            BUFFER: "b = g if b is None else b.mul_(self.momentum).add_(g)",
        },
        {
            GRAD: "g = p.grad + self.weight_decay * p if self.weight_decay else p.grad",
            BUFFER: "b = g if b is None or not self.momentum else b.mul_(self.momentum).add_(g)",
        },
    ),
    Mistake(
        "gradient_changed",
        "step changes .grad itself; put .grad + λp and all that follows in new tensors",
        {GRAD: "g = p.grad.add_(p, alpha=self.weight_decay).clone()"},
        {L2: "grad = p.grad.add_(p, alpha=self.weight_decay)"},
        {L2: f"{L2} if self.weight_decay else p.grad", SECOND: SECOND.replace("square", "square_")},
        {STEP: f"{STEP}        [p.grad.square_() for p in self.adam.params if p.grad is not None]\n"},
    ),
    Mistake(
        "name_moved",
        "the update does not reach the parameter, as with p = p − …, which only names a new tensor; change p in place",
        {MOVE: MOVE.replace("-= ", "= p - ")},
        {UPDATE: UPDATE.replace("-= ", "= p - "), SHRINK: [SHRINK, "pass"]},
    ),
    Mistake(
        "parameters_in_new_memory",
        "the parameter gets new memory, as with p.data = …, so views of the old memory see nothing; change p in place",
        {MOVE: MOVE.replace("p -= ", "p.data = p - ")},
        {UPDATE: UPDATE.replace("p -= ", "p.data = p - ")},
        {SHRINK: "p.data = p * (1 - self.lr * self.decay)"},
    ),
    Mistake(
        "graph_in_the_state",
        "the state holds the graph of every step so far; compute under torch.no_grad()",
        {OF_SGD: OF_SGD.removeprefix("@torch.no_grad()\n    "), MOVE: MOVE.replace("p -=", "p.data -=")}
        | {GRAD: [GRAD, "g = p.grad + self.weight_decay * p if self.weight_decay else p.grad.clone()"]},
        {OF_ADAM: OF_ADAM.removeprefix("@torch.no_grad()\n    "), UPDATE: UPDATE.replace("p -=", "p.data -=")},
    ),
    Mistake(
        "gradients_left_off",
        "gradients stay switched off after the step; use torch.no_grad(), which switches them on again",
        {
            SKIP + GRAD: f"            torch.set_grad_enabled(False)\n{SKIP}{GRAD}",
            OF_SGD: OF_SGD.removeprefix("@torch.no_grad()\n    "),
        },
        dict.fromkeys([f"{one}…" for one in (OF_SGD, OF_ADAM, OF_ADAMW)], LEFT_OFF),
    ),
    Mistake(
        "zero_grad_fails_without_one",
        "zero_grad fails at a parameter whose .grad is None; skip it there",
        {ZERO: "            parameter.grad.zero_()"},
        {ZERO_SGD: "            p.grad.zero_()"},
    ),
    Mistake(
        "zero_grad_of_the_first",
        "zero_grad clears only some of the gradients; clear all",
        {ZERO: f"{ZERO}\n            break"},
    ),
    Mistake(
        "history_kept",
        "memory grows with every step, as when all past gradients are kept; a buffer or two moments are enough",
        {UPDATE: f"{UPDATE}\n            self.__dict__.setdefault('past', []).append(grad)"},
        {MOVE: f"{MOVE}\n            self.__dict__.setdefault('past', []).append(g)"},
        slow=True,
    ),
    Mistake(
        "loop_over_numbers",
        "a Python loop runs over the numbers of a parameter; use operations on whole tensors",
        {
            UPDATE: "pairs = zip(m_hat.flatten(), v_hat.flatten(), strict=True)\n            "
            "p -= torch.stack([self.lr * m / (v.sqrt() + self.eps) for m, v in pairs]).view(p.shape)"
        },
        slow=True,
    ),
)
EQUIVALENT = {
    f"builtin.py runs {name}": "torch.optim reads a number or is profiled"
    for name in ("local_scalar_dense", "record_function_enter_new", "record_function_exit")
}
FIXED = {
    "length of form": "these are kinds of iterables, not sizes",
    "length of without": "one list for each of five steps: which parameters have no gradient then",
    "length of betas": "there are two",
    "lr": "it is drawn as `rates`, one for each step",
}
