"""Known wrong answers to dpo_loss."""

from graders.kata import Mistake

TARGET, LOGP = "target = labels[:, 1:]", "logp = F.log_softmax(logits[:, :-1], dim=-1)"
ADDED = "picked.masked_fill(ignored, 0).sum(dim=1)"
BY_SEQUENCE = "torch.stack([F.log_softmax(one, dim=-1) for one in logits[:, :-1]])"
PICKED = "logp.gather(-1, target[..., None])[..., 0]"
TOKEN_0_TOO = "(target == ignore_index) | (target == 0)"
BEFORE = "(labels[:, :-1] == ignore_index)"
LABEL_RANGE = "((target < 0) | (target >= logits.shape[2])).any()"

SHAPES = "not policy_chosen.shape == policy_rejected.shape == ref_chosen.shape == ref_rejected.shape"
REFERENCE = "(ref_chosen - ref_rejected).detach()"
Z = f"z = beta * ((policy_chosen - policy_rejected) - {REFERENCE})"
LOSSES = "losses = -(1 - label_smoothing) * F.logsigmoid(z) - label_smoothing * F.logsigmoid(-z)"
KINKS = "losses = (1 - label_smoothing) * (-z).relu() + label_smoothing * z.relu() + (-z.abs()).exp().log1p()"
ONE_KINK = "losses = (-z).relu() + label_smoothing * z + (-z.abs()).exp().log1p()"
OF_SIGMOID = "losses = -(1 - label_smoothing) * z.sigmoid().log() - label_smoothing * "


MISTAKES = (
    Mistake(
        "not_shifted",
        "label t is looked up in the logits at t, which predict the next token; take the logits at t − 1",
        {TARGET: "target = labels", LOGP: "logp = F.log_softmax(logits, dim=-1)"},
        {LOGP: "logp = F.log_softmax(logits[:, 1:], dim=-1)"},  # the first label is left out
    ),
    Mistake(
        "shifted_back",
        "label t is looked up in the logits at t + 1, which have seen it; take the logits at t − 1",
        {TARGET: "target = labels[:, :-1]", LOGP: LOGP.replace(":-1]", "1:]")},
    ),
    Mistake(
        "shifted_twice",
        "labels and logits are shifted twice, and label t meets the logits at t − 2; shift them once",
        {TARGET: "target = labels[:, 2:]", LOGP: LOGP.replace(":-1]", ":-2]")},
    ),
    Mistake(
        "rolled_round",
        "the labels are rolled, so the last logits are asked for the first label, which nothing predicts; leave that "
        "position out",
        {TARGET: "target = labels.roll(-1, dims=1)", LOGP: "logp = F.log_softmax(logits, dim=-1)"},
    ),
    Mistake(
        "last_label_left_out",
        "the last label is left out; the logits at S − 2 predict it, so drop only the logits at S − 1",
        {TARGET: "target = labels[:, 1:-1]", LOGP: LOGP.replace(":-1]", ":-2]")},
    ),
    Mistake(
        "mean_over_tokens",
        "the log-probabilities are averaged over the tokens; add them up, since the logarithm of a product is a sum",
        {
            ADDED: [
                f"{ADDED} / (~ignored).sum(dim=1).clamp(min=1)",
                f"{ADDED} / (~ignored).sum(dim=1)",
                ADDED.replace("sum", "mean"),
            ]
        },
    ),
    Mistake("one_sum_for_all", "all sequences are added up; return one sum for each", {"sum(dim=1)": "sum()"}),
    Mistake(
        "ignored_labels_counted",
        "ignored labels count as if they were token 0; set their log-probability to 0",
        {ADDED: "picked.sum(dim=1)"},
    ),
    Mistake(
        "ignored_labels_alone",
        "the mask is upside down: labels that equal ignore_index count, and the others do not",
        {ADDED: "picked.masked_fill(~ignored, 0).sum(dim=1)"},
    ),
    Mistake(
        "mask_not_shifted",
        "a label is left out if the one before it is ignored, so an answer's first token does not count; shift the "
        "mask as the labels are shifted",
        {
            ADDED: [
                f"picked.masked_fill({BEFORE}, 0).sum(dim=1)",
                f"picked.masked_fill(ignored | {BEFORE}, 0).sum(dim=1)",
            ]
        },
    ),
    Mistake(
        "labels_overwritten",
        "ignored labels are set to 0 in the caller's tensor; use masked_fill, or clone the labels first",
        {"target = target.masked_fill(ignored, 0)": "target[ignored] = 0"},
    ),
    Mistake(
        "other_labels_ignored",
        "labels other than ignore_index are ignored: −100, all negative ones or token 0; ignore labels that equal "
        "ignore_index, and no others",
        {"ignored = …": [f"ignored = {which}" for which in ("target == -100", "target < 0", TOKEN_0_TOO)]},
    ),
    Mistake(
        "ignored_label_looked_up",
        "ignored labels such as −100 are used as indices; put a token in their place first, and set its "
        "log-probability to 0 afterwards",
        {"target = target.masked_fill(ignored, 0)": "pass", LABEL_RANGE: f"(~ignored & {LABEL_RANGE[:-6]}).any()"},
        {
            "target = target.masked_fill(ignored, 0)": "target = target.clamp(min=0)",
            LABEL_RANGE: "(~ignored & (target >= logits.shape[2])).any()",
        },
        {  # nothing is ignored
            "target = target.masked_fill(ignored, 0)": "pass",
            LABEL_RANGE: f"(~ignored & {LABEL_RANGE[:-6]}).any()",
            ADDED: "picked.sum(dim=1)",
        },
    ),
    Mistake(
        "ignored_labels_refused",
        "labels that equal ignore_index are refused as no tokens; put a token in their place before the check",
        {"target = target.masked_fill(ignored, 0)": "pass"},
    ),
    Mistake(
        "zeros_without_a_gradient",
        "a sequence of one token gives zeros that do not require grad; drop the special case, or make the zeros from "
        "the logits",
        {TARGET: f"if labels.shape[1] == 1:\n        return logits.new_zeros(len(logits))\n    {TARGET}"},
    ),
    Mistake(
        "log_of_softmax",
        "the logarithm is taken of the softmax, which is 0 where a logit is far below the largest; use log_softmax",
        {LOGP: "logp = logits[:, :-1].softmax(dim=-1).log()"},
        {LOGP: "logp = (logits[:, :-1].softmax(dim=-1) + 1e-8).log()"},
        {LOGP: "logp = logits[:, :-1].softmax(dim=-1).log()", ADDED: "(picked * ~ignored).sum(dim=1)"},
        {
            LOGP: [  # sliced last, the logits that predict nothing also get NaN as their gradient
                "logp = logits[:, :-1].double().softmax(dim=-1).log()",
                "logp = logits.double().softmax(dim=-1).log()[:, :-1]",
            ],
            ADDED: [f"{ADDED}.to(logits.dtype)", "(picked * ~ignored).sum(dim=1).to(logits.dtype)"],
        },
    ),
    Mistake(
        "maximum_not_subtracted",
        "exp of the logits overflows; first subtract the largest logit of each position, or use logsumexp or "
        "log_softmax",
        {LOGP: "logp = logits[:, :-1] - logits[:, :-1].exp().sum(dim=-1, keepdim=True).log()"},
    ),
    Mistake(
        "no_softmax", "the logits themselves are added up; take log_softmax first", {LOGP: "logp = logits[:, :-1]"}
    ),
    Mistake(
        "probabilities_added",
        "probabilities are added up; add up what log_softmax gives",
        {LOGP: LOGP.replace("log_softmax", "softmax")},
    ),
    Mistake(
        "softmax_over_positions",
        "the softmax runs over the positions; it should run over the tokens of the vocabulary",
        {LOGP: LOGP.replace("-1)", "1)")},
    ),
    Mistake(
        "loss_for_logp",
        "sequence_logp returns minus the log-probability; drop the minus",
        {ADDED: f"-{ADDED}"},
    ),
    Mistake(
        "negative_labels_wrap",
        "a negative label other than ignore_index is let through as an index, and gather fails with an error of "
        "its own; raise ValueError",
        {"(target < 0)": "(target < -logits.shape[2])"},
    ),
    Mistake(
        "chosen_and_rejected_swapped",
        "chosen and rejected are swapped, or the weights 1 − ε and ε are, so the loss falls when the rejected answer "
        "gets likelier; change the sign of z",
        {Z: Z.replace("z = beta", "z = -beta")},
        {LOSSES: "losses = -label_smoothing * F.logsigmoid(z) - (1 - label_smoothing) * F.logsigmoid(-z)"},
    ),
    Mistake(
        "reference_left_out",
        "the log-probabilities of the reference are not used; subtract their difference, then multiply by β",
        {Z: Z.replace(f" - {REFERENCE}", "")},
    ),
    Mistake(
        "reference_added",
        "the difference of the reference is added; subtract it",
        {Z: Z.replace(f" - {REFERENCE}", f" + {REFERENCE}")},
    ),
    Mistake(
        "chosen_alone",
        "the rejected answer has no part in z; also subtract policy_rejected − ref_rejected, then multiply by β",
        {Z: "z = beta * (policy_chosen - ref_chosen.detach())"},
    ),
    Mistake(
        "logarithms_divided",
        "one log-probability is divided by another; the logarithm of a quotient is a difference, so subtract them",
        {Z: "z = beta * (policy_chosen / policy_rejected - (ref_chosen / ref_rejected).detach())"},
    ),
    Mistake(
        "ratios_without_logarithm",
        "z is made from ratios of probabilities, by exp; take the differences of the log-probabilities as they are",
        {
            Z: [
                "z = beta * ((policy_chosen - policy_rejected).exp() - (ref_chosen - ref_rejected).exp().detach())",
                "z = beta * ((policy_chosen - ref_chosen.detach()).exp()"
                " - (policy_rejected - ref_rejected.detach()).exp())",
            ]
        },
    ),
    Mistake(
        "rejected_added",
        "the rejected answer's part has the wrong sign; subtract policy_rejected − ref_rejected from policy_chosen − "
        "ref_chosen",
        {Z: "z = beta * ((policy_chosen + policy_rejected) - (ref_chosen + ref_rejected).detach())"},
    ),
    Mistake(
        "a_sigmoid_for_each",
        "chosen and rejected each have a σ of their own; z is one difference of both, inside one σ",
        {
            LOSSES: "losses = -F.logsigmoid(beta * (policy_chosen - ref_chosen.detach()))"
            " - F.logsigmoid(-beta * (policy_rejected - ref_rejected.detach()))"
        },
    ),
    Mistake(
        "margins_averaged",
        "z is averaged over the pairs before the loss is taken; take each pair's loss, then reduce",
        {Z: f"{Z}\n    z = z.mean()"},
    ),
    Mistake(
        "none_reduced",
        'reduction="none" also gives one number; return one loss for each pair',
        {'if reduction == "none":\n        return losses': 'if reduction == "none":\n        return losses.mean()'},
        {'if reduction == "none":\n        return losses': 'if reduction == "none":\n        return losses.sum()'},
    ),
    Mistake(
        "reference_gets_a_gradient",
        "a gradient flows to the reference, which is frozen; detach its log-probabilities",
        {".detach()": ""},
    ),
    Mistake(
        "beta_on_the_policy_alone",
        "β multiplies only the policy's difference; it should multiply both differences",
        {Z: f"z = beta * (policy_chosen - policy_rejected) - {REFERENCE}"},
    ),
    Mistake(
        "beta_outside",
        "β multiplies the loss; it belongs inside σ",
        {Z: Z.replace("beta * ", ""), LOSSES: f"{LOSSES}\n    losses = beta * losses"},
    ),
    Mistake(
        "beta_divides",
        "z is divided by β; multiply by it",
        {Z: Z.replace("beta *", "1 / beta *")},
    ),
    Mistake(
        "log_of_sigmoid",
        "log σ(z) is computed in two steps, which fails where |z| is large; use logsigmoid or softplus",
        {
            LOSSES: [
                f"{OF_SIGMOID}(-z).sigmoid().log()",
                f"{OF_SIGMOID}(1 - z.sigmoid()).log()",
                *(
                    f"{OF_SIGMOID}(-z).sigmoid().log()".replace(".log()", f".{way}.log()")
                    for way in ("clamp(min=1e-8)", "add(1e-8)", "clamp(min=1e-12)", "add(1e-12)")
                ),
                "losses = (1 - label_smoothing) * (1 + (-z).exp()).log() + label_smoothing * (1 + z.exp()).log()",
                "losses = (1 - label_smoothing) * (-z).exp().log1p() + label_smoothing * z.exp().log1p()",
            ]
        },
    ),
    Mistake(
        "z_clamped",
        "z is clamped, so loss and gradient are wrong where |z| is large; logsigmoid needs no clamp",
        {Z: [f"{Z}\n    z = z.clamp(-{bound}, {bound})" for bound in (10, 20, 30, 50, 100)]},
    ),
    Mistake(
        "kink_at_0",
        "at z = 0 the gradient is doubled or 0, since relu, clamp and |z| have a kink there; use F.logsigmoid, "
        "F.softplus or torch.logaddexp",
        {LOSSES: [*(KINKS.replace("relu()", part) for part in ("relu()", "clamp(min=0)")), ONE_KINK]},
    ),
    Mistake(
        "hinge",
        "the loss is a hinge, max(0, 1 − z); it should be −(1 − ε) log σ(z) − ε log σ(−z)",
        {LOSSES: "losses = (1 - z).relu()"},
    ),
    Mistake(
        "squared",
        "the loss is a square, as in IPO; it should be −(1 − ε) log σ(z) − ε log σ(−z)",
        {LOSSES: ["losses = (z / beta - 1 / (2 * beta)).square()", "losses = (z - 0.5).square()"]},
    ),
    Mistake(
        "probability",
        "the loss is 1 − σ(z) or −σ(z), without a logarithm; it should be −(1 − ε) log σ(z) − ε log σ(−z)",
        {LOSSES: ["losses = 1 - z.sigmoid()", "losses = -z.sigmoid()"]},
    ),
    Mistake(
        "smoothing_ignored",
        "label_smoothing changes nothing; the loss should be −(1 − ε) log σ(z) − ε log σ(−z)",
        {LOSSES: "losses = -F.logsigmoid(z)"},
    ),
    Mistake(
        "half_refused",
        "a label_smoothing of 0.5 is refused; it is allowed",
        {"<= 0.5": "< 0.5"},
    ),
    Mistake(
        "first_term_alone",
        "the second term, −ε log σ(−z), is missing; add it",
        {LOSSES: "losses = -(1 - label_smoothing) * F.logsigmoid(z)"},
    ),
    Mistake(
        "second_term_added_twice",
        "the first term is not weighted; multiply −log σ(z) by 1 − ε",
        {LOSSES: "losses = -F.logsigmoid(z) - label_smoothing * F.logsigmoid(-z)"},
    ),
    Mistake(
        "smoothing_inside_the_sigmoid",
        "z is multiplied by 1 − ε or 1 − 2ε; leave z as it is, and weight log σ(z) by 1 − ε and log σ(−z) by ε",
        {LOSSES: [f"losses = -F.logsigmoid((1 - {one}) * z)" for one in ("label_smoothing", "2 * label_smoothing")]},
    ),
    Mistake(
        "probabilities_mixed",
        "the two probabilities are weighted before the logarithm; weight their logarithms",
        {LOSSES: "losses = -((1 - label_smoothing) * z.sigmoid() + label_smoothing * (-z).sigmoid()).log()"},
    ),
    Mistake(
        "sigmoid_twice",
        "z goes through a sigmoid before log σ, which applies one itself; give it z",
        {LOSSES: LOSSES.replace("(z)", "(z.sigmoid())").replace("(-z)", "(-z.sigmoid())")},
    ),
    Mistake(
        "half_of_the_smoothing",
        "ε is spread over both sides as in classification, with weights of 1 − ε/2 and ε/2; they should be 1 − ε and ε",
        {LOSSES: LOSSES.replace("label_smoothing", "label_smoothing / 2")},
    ),
    Mistake(
        "robust_dpo",
        "the second term has the wrong sign, as in robust DPO; the loss should be −(1 − ε) log σ(z) − ε log σ(−z)",
        {
            LOSSES: [
                "losses = (label_smoothing * F.logsigmoid(-z) - (1 - label_smoothing) * F.logsigmoid(z))"
                " / (1 - 2 * label_smoothing)",
                "losses = label_smoothing * F.logsigmoid(-z) - (1 - label_smoothing) * F.logsigmoid(z)",
            ]
        },
    ),
    Mistake(
        "sign_turned",
        "the loss has the wrong sign; it should be −(1 − ε) log σ(z) − ε log σ(−z)",
        {LOSSES: f"{LOSSES}\n    losses = -losses"},
    ),
    Mistake(
        "sum_for_mean",
        'reduction="mean" gives the sum, or "sum" gives the mean',
        {"losses.mean() if …": ["losses.sum()", "losses.mean()"]},
    ),
    Mistake(
        "sequence_by_sequence",
        "a Python loop takes one sequence at a time; log_softmax takes all of them",
        {LOGP: f"logp = {BY_SEQUENCE}"},
        slow=True,
    ),
    Mistake(
        "table_of_tokens",
        "the log-probability of each label is picked with a V × V identity matrix; use gather",
        {
            PICKED: "(logp * torch.eye(logits.shape[2], dtype=logp.dtype)[target]).sum(-1)",
            "import torch.nn.functional": "import torch\nimport torch.nn.functional",
        },
        slow=True,
    ),
    Mistake(
        "every_label_everywhere",
        "all labels are looked up at all positions, and a diagonal is taken; gather looks up one label at each "
        "position",
        {PICKED: "logp.flatten(0, 1)[:, target.flatten()].diagonal().view_as(target)"},
        slow=True,
    ),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT = {
    f"picked = {PICKED} -> picked = {PICKED[:-2]}-1]": "the axis has length 1",
}
