"""Known wrong answers to mixture_of_experts."""

from graders.kata import Mistake

ROUTER = "nn.Linear(embed_dim, num_experts, bias=False)"
SHARES = "self.router(tokens).softmax(-1)"
PICK = "largest, chosen = shares.topk(self.top_k)"
WEIGHTS = "largest / largest.sum(-1, keepdim=True)"
ADD = "out.index_add_(0, n, weights[n, choice, None] * expert(tokens[n]))"
LOOP = f"for e, expert in enumerate(self.experts):\n            n, choice = (chosen == e).nonzero(as_tuple=True)…{ADD}"
LOAD = "load = (counts / chosen.numel()).to(x.dtype)"
LOSS = "E * (load * shares.mean(0)).sum()"
COUNTS = "chosen.flatten().bincount(minlength=E).double()"
OUT = "out = torch.zeros_like(tokens)"
ONCE = """for e, expert in enumerate(self.experts):
            n, choice = (chosen == e).nonzero(as_tuple=True)
            rows.append(n)
            made.append(weights[n, choice, None] * expert(tokens[n]))
        out[torch.cat(rows)] += torch.cat(made)"""
EVERY = """gates = torch.zeros_like(shares).scatter(1, chosen, weights)
        for e, expert in enumerate(self.experts):
            out = out + gates[:, e, None] * expert(tokens)"""
STACKED = """gates = torch.zeros_like(shares).scatter(1, chosen, weights)
        every = torch.stack([expert(tokens) for expert in self.experts], 1)
        out = (gates[:, :, None] * every).sum(1)"""
BY_TOKEN = """rows = []
        for i in range(len(tokens)):
            rows.append(sum(weights[i, c] * self.experts[chosen[i, c]](tokens[i]) for c in range(self.top_k)))
        out = torch.stack(rows)"""
GATHERED = """w1, b1, w2, b2 = (
            torch.stack([getattr(expert[i], name) for expert in self.experts])[chosen]
            for i in (0, 2)
            for name in ("weight", "bias")
        )
        inner = nn.functional.gelu(torch.einsum("nkhd,nd->nkh", w1, tokens) + b1)
        out = (weights[:, :, None] * (torch.einsum("nkdh,nkh->nkd", w2, inner) + b2)).sum(1)"""
BY_SAMPLE = """samples = x.shape[0]
        f = nn.functional.one_hot(chosen, E).to(x.dtype).reshape(samples, -1, E).mean(1)
        p = shares.reshape(samples, -1, E).mean(1)
        return out.view(x.shape), E * (f * p).sum(-1).mean()"""
CAPACITY = """n, choice = (chosen == e).nonzero(as_tuple=True)
            room = max(int({} * len(tokens) * self.top_k / E), 1)
            n, choice = n[:room], choice[:room]"""

MISTAKES = (
    Mistake(
        "not_renormalised",
        "the weights of the chosen experts are their probabilities, which add up to less than 1; divide them by "
        "their sum",
        {WEIGHTS: "largest"},
    ),
    Mistake(
        "softmax_of_probabilities",
        "a softmax is taken of the chosen probabilities, which makes them nearly even; divide them by their sum, or "
        "take the softmax of the chosen logits",
        {WEIGHTS: "largest.softmax(-1)"},
    ),
    Mistake(
        "sigmoid_scores",
        "the scores are sigmoids of the logits; take the softmax over all experts",
        {SHARES: "self.router(tokens).sigmoid()"},
    ),
    Mistake(
        "softmax_over_tokens",
        "the softmax runs over the tokens; it should run over the experts",
        {SHARES: "self.router(tokens).softmax(0)"},
    ),
    Mistake(
        "even_weights",
        "the chosen experts count alike; weight them by the router",
        {WEIGHTS: "torch.full_like(largest, 1 / self.top_k)"},
    ),
    Mistake(
        "unweighted_sum",
        "the results of the chosen experts are added without weights; multiply each by its weight",
        {"weights[n, choice, None] * expert": "expert"},
    ),
    Mistake(
        "weights_out_of_step",
        "weights meet the results of other experts or tokens; take the weight of this token's choice of this expert",
        {"weights[n, choice, None]": "weights[n, 0, None]"},
        {"weights[n, choice, None]": "weights[n, choice.flip(0), None]"},
        {"weights[n, choice, None]": "weights[n, -1 - choice, None]"},
        {"weights[n, choice, None]": "weights.flatten()[: len(n), None]"},
        {PICK: f"{PICK}\n        chosen = chosen.sort(-1).values"},
    ),
    Mistake(
        "weighted_inputs",
        "the weight is multiplied with what goes into the expert; multiply what comes out",
        {"weights[n, choice, None] * expert(tokens[n])": "expert(weights[n, choice, None] * tokens[n])"},
    ),
    Mistake(
        "gate_detached",
        "the weights are detached, so the router learns nothing from the result; keep them in the graph",
        {WEIGHTS: "(largest / largest.sum(-1, keepdim=True)).detach()"},
    ),
    Mistake(
        "repeats_lost",
        "out[rows] += results keeps one result of each token, and drops its other experts'; add with index_add",
        {OUT: f"{OUT}\n        rows, made = [], []", LOOP: ONCE},
    ),
    Mistake(
        "last_expert_stays",
        "each expert's results overwrite what is there; add them up",
        {ADD: "out[n] = weights[n, choice, None] * expert(tokens[n])"},
    ),
    Mistake(
        "one_choice_alone",
        "only the best expert is used; each token goes to top_k of them",
        {PICK: "largest, chosen = shares.topk(1)"},
    ),
    Mistake(
        "always_two",
        "each token goes to two experts, whatever top_k is; use top_k",
        {PICK: ["largest, chosen = shares.topk(min(2, E))", "largest, chosen = shares.topk(2)"]},
    ),
    Mistake(
        "smallest_chosen",
        "the experts with the least probabilities are chosen; take the largest",
        {PICK: "largest, chosen = shares.topk(self.top_k, largest=False)"},
    ),
    Mistake(
        "capacity",
        "an expert drops tokens above a capacity; there is no limit here",
        {
            "n, choice = (chosen == e).nonzero(as_tuple=True)": [
                CAPACITY.format(room) for room in ("1.0", "1.25", "1.5")
            ]
        },
    ),
    Mistake(
        "residual",
        "the tokens themselves are added to the result; only the experts' results count",
        {OUT: "out = tokens.clone()"},
    ),
    Mistake(
        "noise",
        "noise is added to the logits in training; the router is the same in both modes",
        {
            SHARES: "self.router(tokens)\n        if self.training:\n            "
            "shares = shares + torch.randn_like(shares)\n        shares = shares.softmax(-1)"
        },
    ),
    Mistake(
        "router_with_bias", "the router has a bias; it should have none", {ROUTER: "nn.Linear(embed_dim, num_experts)"}
    ),
    Mistake(
        "other_activation",
        "the experts do not use the exact GELU; use nn.GELU() without options",
        {"nn.GELU()": ["nn.ReLU()", 'nn.GELU(approximate="tanh")', "nn.SiLU()"]},
    ),
    Mistake(
        "loss_times_k",
        "the loss is k times too large: f counts the tokens that chose an expert; divide by all N · k choices",
        {"chosen.numel()": "len(tokens)"},
    ),
    Mistake(
        "loss_without_experts",
        "the loss is not multiplied by the number of experts",
        {LOSS: "(load * shares.mean(0)).sum()"},
        {LOSS: "E * (load * shares.mean(0)).mean()"},
    ),
    Mistake(
        "loss_of_the_first_choice",
        "f counts only each token's first choice; count all k choices",
        {COUNTS: "chosen[:, 0].bincount(minlength=E).double()", "chosen.numel()": "len(tokens)"},
    ),
    Mistake(
        "loss_of_probabilities",
        "f is the mean probability as well; it should be the share of the choices, without a gradient",
        {LOAD: "load = shares.mean(0)"},
    ),
    Mistake(
        "loss_of_counts",
        "the loss multiplies the shares of the choices by themselves, which have no gradient; use the mean "
        "probabilities for one of the two",
        {LOSS: "E * (load * load).sum()"},
    ),
    Mistake(
        "loss_of_weights",
        "P is the mean of the chosen experts' weights; take the mean of all probabilities, before any choice",
        {"shares.mean(0)": "torch.zeros_like(shares).scatter(1, chosen, weights).mean(0)"},
        {"shares.mean(0)": "torch.zeros_like(shares).scatter(1, chosen, largest).mean(0)"},
    ),
    Mistake(
        "loss_of_logits",
        "P is the mean of the logits; take the mean of the probabilities",
        {"shares.mean(0)": "self.router(tokens).mean(0)"},
    ),
    Mistake(
        "loss_detached",
        "the probabilities in the loss are detached, so the loss teaches the router nothing",
        {"shares.mean(0)": "shares.detach().mean(0)"},
    ),
    Mistake(
        "loss_by_sample",
        "the loss is taken of each sample and averaged; take f and P over all tokens together",
        {f"return out.view(x.shape), {LOSS}": BY_SAMPLE},
    ),
    Mistake(
        "loss_has_an_axis",
        "the loss comes back as a tensor of one number with an axis; it should be a scalar",
        {LOSS: "E * (load * shares.mean(0)).sum(0, keepdim=True)"},
    ),
    Mistake(
        "float32_shares",
        "the shares of the choices are rounded to float32, as a quotient of whole numbers is; divide in float64",
        {COUNTS: "chosen.flatten().bincount(minlength=E)"},
        {COUNTS: "chosen.flatten().bincount(minlength=E).float()"},
    ),
    Mistake(
        "three_axes_expected",
        "x is expected to have three axes; it may have two or more",
        {"x.reshape(-1, x.shape[-1])": "x.reshape(x.shape[0] * x.shape[1], x.shape[2])"},
        {"E = len(self.experts)": "E = len(self.experts)\n        B, S, D = x.shape"},
    ),
    Mistake(
        "idle_expert_fails",
        "an expert without tokens makes the call fail, or gives NaN; such an expert adds nothing",
        {"* expert(tokens[n])": "* (expert(tokens[n]) - 0 * tokens[n].max())"},
        {LOAD: "load = (counts / chosen.numel() * counts / counts).to(x.dtype)"},
        {COUNTS: "chosen.flatten().bincount().double()"},
    ),
    Mistake(
        "all_experts_map_all",
        "every expert maps every token, and most results are multiplied by 0; give an expert only its own tokens",
        {LOOP: EVERY},
        {LOOP: STACKED},
        slow=True,
    ),
    Mistake(
        "token_by_token",
        "a loop takes one token at a time; give an expert all of its tokens in one call",
        {LOOP: BY_TOKEN},
        slow=True,
    ),
    Mistake(
        "weights_for_each_token",
        "each choice gets its own copy of its expert's weights; give an expert all of its tokens in one call",
        {LOOP: GATHERED},
        slow=True,
    ),
)

FIXED = {"axis 3 of x": "the last of four axes has the channels, whose number is drawn where x has three"}
# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT = {
    f"shares = {SHARES} -> shares = {SHARES.replace('-1', '1')}": "of two axes, the second is the last",
    f"weights = {WEIGHTS} -> weights = {WEIGHTS.replace('-1', '1')}": "of two axes, the second is the last",
}
