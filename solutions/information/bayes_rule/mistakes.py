"""Known wrong answers to bayes_rule."""

from graders.kata import Mistake

OFF = "if (prior.sum() - 1).abs() > 0.02:"
JOINT = "joint = prior * likelihood"
EVIDENCE = "evidence = joint.sum(-1, keepdim=True)"
NONE = "if (evidence == 0).any():"
POSTERIOR = "return joint / evidence"
TOTAL = "return (prior * likelihood).sum(-1)"
LOG_EVIDENCE = "torch.logsumexp(log_joint, -1, keepdim=True)"
IN_FLOAT32 = "log_joint.float().exp().sum(-1, keepdim=True).log().to(log_joint.dtype)"
LOG_NONE = "if (log_evidence == -torch.inf).any():"
LOG_POSTERIOR = "return log_joint - log_evidence"
SHIFTED = "(log_joint - top).exp().sum(-1, keepdim=True).log() + top"
ONE_MAXIMUM = {LOG_EVIDENCE: SHIFTED.replace("top", "log_joint.max()")}
OF_LIKELIHOODS = {LOG_EVIDENCE: SHIFTED.replace("top", "log_likelihood.amax(-1, keepdim=True)")}
WIDENED = {
    "log_joint = …": "log_joint = (log_prior + log_likelihood).to(torch.promote_types(log_prior.dtype, torch.float32))",
    LOG_POSTERIOR: "return (log_joint - log_evidence).to(log_prior.dtype)",
}
ALL_ZERO = {LOG_NONE: "if (log_joint == -torch.inf).all(-1).any():"}

MISTAKES = (
    Mistake(
        "wrong_axis",
        "the evidence is not the sum of each row; sum only over the last axis, however many axes there are",
        {EVIDENCE: ["evidence = joint.sum(0, keepdim=True)", "evidence = joint.sum(1, keepdim=True)"]},
        {LOG_EVIDENCE: ["torch.logsumexp(log_joint, 0, keepdim=True)", "torch.logsumexp(log_joint, 1, keepdim=True)"]},
        {TOTAL: ["return (prior * likelihood).sum(0)", "return prior @ likelihood.T"]},
        {EVIDENCE: "evidence = joint.sum()"},
    ),
    Mistake(
        "prior_forgotten",
        "the likelihoods are not weighted by the prior; multiply each by its hypothesis's prior (in logs: add)",
        {JOINT: "joint = likelihood"},
        {EVIDENCE: "evidence = likelihood.sum(-1, keepdim=True)"},
        {"log_joint = …": "log_joint = log_likelihood"},
    ),
    Mistake(
        "logs_by_way_of_exp",
        "log_posterior takes exp of the log-likelihoods or of the joint's log; for 1000 observations exp underflows "
        "or overflows; use torch.logsumexp",
        {LOG_EVIDENCE: "log_joint.exp().sum(-1, keepdim=True).log()"},
        {LOG_EVIDENCE: "log_joint.exp().sum(-1, keepdim=True).log()", LOG_NONE: "if False:"},  # gives infinity
        {LOG_POSTERIOR: "return torch.log(posterior(log_prior.exp(), log_likelihood.exp()))"},
        {
            LOG_POSTERIOR: "joint = log_prior.double().exp() * log_likelihood.double().exp()\n    "
            "return (joint / joint.sum(-1, keepdim=True)).log().to(log_prior.dtype)",
        },
        {LOG_NONE: ["if (log_joint.exp() == 0).all(-1).any():", "if (log_likelihood.exp() == 0).all(-1).any():"]},
    ),
    Mistake(
        "cast_but_not_shifted",
        {LOG_EVIDENCE: f"{IN_FLOAT32} if log_joint.dtype.itemsize < 4 else {LOG_EVIDENCE}"},
    ),
    Mistake(
        "one_maximum_for_all",
        "the maximum of all rows, or of the likelihoods alone, is subtracted, so exponentials underflow; use "
        "torch.logsumexp of each row of log_prior + log_likelihood",
        ONE_MAXIMUM,
        ONE_MAXIMUM | ALL_ZERO,
        *(
            {LOG_EVIDENCE: SHIFTED.replace("top", "log_joint.detach().max()")} | WIDENED | checked
            for checked in ({}, ALL_ZERO)
        ),
        OF_LIKELIHOODS,
        OF_LIKELIHOODS | ALL_ZERO,
    ),
    Mistake(
        "plain_by_way_of_logs",
        "probabilities that may be 0 go through logs, with or without a clamp, so gradients are NaN or wrong; "
        "multiply and divide instead",
        {POSTERIOR: "return torch.softmax(prior.log() + likelihood.log(), -1)"},
        {POSTERIOR: "return torch.softmax(prior.log() + likelihood.clamp_min(1e-30).log(), -1)"},
        {TOTAL: "return torch.logsumexp(prior.log() + likelihood.log(), -1).exp()"},
    ),
    Mistake(
        "not_the_plain_sum",
        "the joint is divided by its sum plus an eps (wrong for tiny sums), or by its 1-norm (gradient 0 at entries "
        "of 0); divide it by its sum",
        {POSTERIOR: "return joint / (evidence + 1e-12)"},
        {POSTERIOR: "return joint / joint.norm(p=1, dim=-1, keepdim=True)"},
        {POSTERIOR: "return torch.nn.functional.normalize(joint, p=1, dim=-1)"},
    ),
    Mistake(
        "sum_beside_the_tolerance",
        "the sum of the prior is compared with 1 too strictly, too laxly or only on one side; allow rounding errors, "
        "and refuse sums that are off by more than 0.05",
        {OFF: "if prior.sum() != 1:"},
        {OFF: [OFF.replace(*to) for to in ((".02", ".001"), (".02", ".1"), (".abs()", ""), ("abs", "neg"))]},
    ),
    Mistake(
        "prior_checked_in_some",
        "a function does not check its prior, or log_posterior checks log_prior itself; check the prior in all "
        "three; in log_posterior the prior is exp(log_prior)",
        {f"check_prior(prior)\n    {JOINT}": JOINT},
        {f"check_prior(prior)\n    {TOTAL}": TOTAL},
        {"check_prior(log_prior.…": ["pass", "check_prior(log_prior)"]},
    ),
    Mistake(
        "evidence_half_checked",
        "an evidence of 0 is refused only if every row has it, if the likelihoods are all 0, or if K > 1; refuse "
        "every row whose evidence is 0",
        {NONE: "if (evidence == 0).all():"},
        {NONE: ["if (likelihood == 0).all(-1).any():", "if len(prior) > 1 and (evidence == 0).any():"]},
        {LOG_NONE: "if (log_evidence == -torch.inf).all():"},
    ),
    Mistake(
        "too_much_refused",
        "too much is refused: a tiny evidence, a row with an entry of 0, or an evidence of 0 in total_probability; "
        "refuse only an evidence of exactly 0, and only in the other two functions",
        {NONE: ["if (evidence < 1e-10).any():", "if (joint == 0).any():"]},
        {TOTAL: f"assert (likelihood @ prior > 0).all()\n    {TOTAL}"},
    ),
    Mistake(
        "not_taken_as_they_are",
        "the prior or the likelihoods of a row are divided by their sum, or likelihoods above 1 are refused; "
        "take both as they are",
        {TOTAL: ["return (prior * likelihood).sum(-1) / likelihood.sum(-1)", f"{TOTAL} / prior.sum()"]},
        {JOINT: f"assert (likelihood <= 1).all()\n    {JOINT}"},
    ),
    Mistake(
        "not_normalised",
        "the joint is returned as it is, or goes through a softmax; divide it by the evidence (in logs: subtract)",
        {POSTERIOR: "return joint"},
        {LOG_POSTERIOR: "return log_joint"},
        {POSTERIOR: "return joint.softmax(-1)"},
    ),
    Mistake(
        "evidence_detached",
        "the evidence is detached, but it depends on prior and likelihood; let gradients flow through it",
        {POSTERIOR: "return joint / evidence.detach()"},
        {LOG_POSTERIOR: "return log_joint - log_evidence.detach()"},
    ),
    Mistake(
        "all_pairs",
        "K² numbers are made for each row, or the prior is put on the diagonal of a matrix; multiply by the prior "
        "entry by entry, and sum over the row",
        {EVIDENCE: "evidence = (joint[..., None, :] * torch.ones_like(joint)[..., None]).sum(-1)"},
        {LOG_EVIDENCE: "(log_joint[..., None, :] - torch.zeros_like(log_joint)[..., None]).logsumexp(-1)"},
        {JOINT: "joint = likelihood @ torch.diag(prior)"},
        {TOTAL: "return (likelihood @ torch.diag(prior)).sum(-1)"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
BETWEEN = "a prior whose sum differs from 1 by more than rounding, but by less than 0.05, is not tested"
EQUIVALENT = {f"{OFF} -> {OFF.replace(*other)}": BETWEEN for other in ((">", ">="), ("0.02", "0.04"))}
