"""Known wrong answers to contrastive_training."""

from graders.kata import Mistake

SEED = "    torch.manual_seed(seed)\n"
RATE = "lr * (1 + math.cos(math.pi * epoch / epochs)) / 2"
FEATURES = "torch.cat([encoder(first), encoder(second)])"
LOGITS = "unit @ unit.mT / temperature"
MASKED = "logits.masked_fill(itself, -torch.inf)"
LOSS = f"F.cross_entropy({MASKED}, positive)"
ZERO = "            encoder.zero_grad()\n"
BACKWARD = "            loss.backward()\n"
UNIT = "unit = F.normalize(features, dim=1)"
MOMENT, SECOND = "m.lerp_(p.grad, 1 - 0.9)", "v.lerp_(p.grad.square(), 1 - 0.999)"
STEP = "p -= rate * m / (1 - 0.9**steps) / ((v / (1 - 0.999**steps)).sqrt() + 1e-8)"
CLIP = "            nn.utils.clip_grad_norm_(params, max_norm=1.0)\n"
MOVED = "                for p, m, v in moments:\n"
MOMENTS = "[(p, torch.zeros_like(p), torch.zeros_like(p)) for p in params]"
TOTAL = "            total += loss.item()\n"
MEAN = "        means.append(total / T)\n"

MISTAKES = (
    Mistake(
        "layout_of_another_loss",
        "the loss pairs rows of different samples; concatenate the features of both views, and pair row i with "
        "row i + N",
        {"torch.arange(…": "torch.arange(2 * N, device=views.device) ^ 1"},
        {FEATURES: "torch.stack([encoder(first), encoder(second)], dim=1).flatten(0, 1)"},
    ),
    Mistake("self_not_excluded", {MASKED: "logits"}),
    Mistake(
        "mask_too_weak",
        "the row's own logit is 0, which others can reach, so that it still counts; set it to −∞",
        {MASKED: "logits.masked_fill(itself, 0)"},
    ),
    Mistake(
        "not_normalised",
        {UNIT: "unit = features"},
        {UNIT: ["unit = F.normalize(features, dim=0)", "unit = features / features.norm()"]},
    ),
    Mistake("temperature_misused", {LOGITS: ["unit @ unit.mT * temperature", "unit @ unit.mT"]}),
    Mistake(
        "block_not_transposed",
        "rows of the second view get the similarities of the first view's rows with the second view; transpose this "
        "block for them",
        {LOSS: LOSS.replace(MASKED, f"torch.cat([{MASKED}[:N], torch.cat([logits[:N, N:], {MASKED}[N:, N:]], 1)])")},
    ),
    Mistake(
        "some_logits_not_divided",
        "some logits are not divided by the temperature, such as a block of one view's own rows; divide every "
        "logit once",
        *(
            {MASKED: f"torch.where({some}, logits * temperature, logits).masked_fill(itself, -torch.inf)"}
            for some in (
                "(first := positive >= N)[:, None] == first",
                "(first := positive >= N)[:, None] & first",
                "(second := positive < N)[:, None] & second",
            )
        ),
    ),
    Mistake(
        "same_view_left_out",
        "the negatives come only from the other view, as in CLIP; take negatives of both views",
        {MASKED: "logits.masked_fill((positive < N)[:, None] == (positive < N), -torch.inf)"},
    ),
    Mistake("one_view_as_anchors", {LOSS: LOSS.replace(f"{MASKED}, positive", f"{MASKED}[:N], positive[:N]")}),
    Mistake(
        "second_view_detached",
        "no gradient passes through one of the views; in InfoNCE both train the encoder",
        {FEATURES: "torch.cat([encoder(first), encoder(second).detach()])"},
    ),
    Mistake(
        "views_in_one_call",
        "both views go through the encoder in one call; call it on each view, as an encoder may draw random numbers",
        {FEATURES: "encoder(torch.cat([first, second]))"},
    ),
    Mistake(
        "gradients_add_up",
        "the gradients of all batches add up, since backward adds to .grad; clear it before every backward",
        {ZERO: ""},
    ),
    Mistake(
        "stale_gradients_count",
        "old gradients, from before the call, count in the first step; "
        "clear .grad before every backward, not after the step",
        {ZERO: "", TOTAL: ZERO + TOTAL},
    ),
    Mistake(
        "nothing_learned",
        "the encoder does not move; clear the gradients before backward, not between backward and step",
        {ZERO: "", BACKWARD: BACKWARD + ZERO.replace("()", "(set_to_none=False)")},
    ),
    Mistake(
        "not_clipped",
        "steps are made with gradients that were not clipped; clip after backward and before the step",
        {CLIP: "", TOTAL: CLIP + TOTAL},
    ),
    Mistake(
        "clipped_one_by_one",
        "each parameter's gradient is clipped by its own norm; take the norm over all gradients together",
        {CLIP: CLIP.replace("nn.utils", "for p in params:\n                nn.utils").replace("(params", "(p")},
    ),
    Mistake(
        "clipped_by_value",
        "each entry of the gradients is clipped by itself; take one norm over all gradients, and scale them together",
        {CLIP: CLIP.replace("norm_(params, max_norm=", "value_(params, clip_value=")},
    ),
    Mistake(
        "clipped_by_another_norm",
        "gradients are scaled by something other than 1 / max(1, ‖g‖₂), such as another norm or bound; take one "
        "Euclidean norm over all gradients, and scale only if it is above 1",
        {CLIP: CLIP.replace("1.0", "5.0")},
        *(
            {CLIP: f"            size = {size}\n            for p in params:\n                p.grad *= {scale}\n"}
            for size, scale in (
                ("torch.stack([p.grad.norm() for p in params]).norm()", "1 / size"),
                ("sum(p.grad.norm() for p in params)", "1 / size.clamp(min=1)"),
                ("sum(p.grad.square().sum() for p in params)", "1 / size.clamp(min=1)"),
                ("max(p.grad.norm() for p in params)", "1 / size.clamp(min=1)"),
            )
        ),
    ),
    Mistake(
        "clipped_with_frozen",
        "old gradients of frozen parameters count when gradients are clipped; leave frozen parameters out",
        {
            ZERO: "            for p in params:\n                p.grad = None\n",
            CLIP: CLIP.replace("params", "encoder.parameters()"),
        },
    ),
    Mistake(
        "frozen_unfrozen",
        "frozen parameters require gradients after the call; leave requires_grad as it is",
        {"    return means": "    encoder.requires_grad_(True)\n    return means"},
    ),
    Mistake(
        "rate_per_batch",
        "the schedule moves on with every batch, so the rate falls too early and rises again; set it once an epoch",
        {
            "for first,…": "for step, (first, second) in enumerate(views, start=epoch * T):\n"
            f"            rate = {RATE.replace('epoch ', 'step ')}"
        },
    ),
    Mistake(
        "rate_one_epoch_ahead",
        "each epoch has the rate of the next one; the first epoch should have the full lr",
        {RATE: RATE.replace("epoch ", "(epoch + 1) ")},
    ),
    Mistake(
        "rate_ends_at_0",
        "e is divided by epochs − 1 inside the cosine, so the last epoch has a rate of 0; divide by epochs",
        {RATE: RATE.replace("epochs", "max(epochs - 1, 1)")},
    ),
    Mistake("rate_stays", "the rate is lr in all epochs; set it by the cosine in each", {RATE: "lr"}),
    Mistake(
        "rate_with_a_floor",
        "the cosine falls to a floor, such as an eta_min of 1e-6; use lr · (1 + cos(πe / epochs)) / 2",
        {RATE: RATE.replace("lr *", "min(lr, 1e-6) + (lr - min(lr, 1e-6)) *")},
    ),
    Mistake(
        "weight_decay",
        "Adam or AdamW also decays the weights, which AdamW does by default; use Adam with a weight_decay of 0",
        {MOVED: MOVED + "                    p.grad += 1e-4 * p\n"},
        {MOVED: MOVED + "                    p -= rate * 0.01 * p\n"},
    ),
    Mistake(
        "another_optimiser",
        "the steps are not a plain Adam's, as where SGD makes them, or betas are changed; use Adam with its defaults",
        {STEP: "p -= rate * p.grad"},
        {STEP: "m.add_(p.grad - 0.1 * m)\n                    p -= rate * m", MOMENT: "pass"},
        {STEP: STEP.replace("0.999", "0.99"), SECOND: SECOND.replace("0.999", "0.99")},
    ),
    Mistake(
        "adam_without_its_correction",
        "Adam's moments are not corrected for their start at 0, or t counts epochs; divide by 1 − βᵗ, where t counts "
        "steps from 1",
        {STEP: STEP.replace(" / (1 - 0.9**steps)", "").replace(" / (1 - 0.999**steps)", "")},
        {STEP: STEP.replace("steps", "(epoch + 1)")},
    ),
    Mistake(
        "eps_inside_the_root",
        "Adam's eps is added under the root; add it to √v̂",
        {STEP: STEP.replace(").sqrt() + 1e-8)", ") + 1e-8).sqrt()")},
    ),
    Mistake(
        "adam_anew_in_each_epoch",
        "Adam is made anew in each epoch, and forgets its moments and its count of steps; make it once",
        {"        total = 0.0\n": f"        total, steps, moments = 0.0, 0, {MOMENTS}\n"},
    ),
    Mistake(
        "last_loss_for_mean",
        "the loss of an epoch's last batch is returned; return the mean over its batches",
        {MEAN: "        means.append(loss.item())\n"},
    ),
    Mistake(
        "loss_of_each_batch",
        "there is one number for each batch; return one for each epoch, the mean over its batches",
        {TOTAL: "            means.append(loss.item())\n", MEAN: ""},
    ),
    Mistake(
        "losses_are_tensors",
        "the losses are tensors; return Python floats",
        {"total += loss.item()": "total += loss.detach()"},
    ),
    Mistake(
        "second_view_first",
        "the encoder is called on the second view first, so random numbers fall to other views; call it on v₀, then v₁",
        {FEATURES: "torch.cat([encoder(second), encoder(first)][::-1])"},
    ),
    Mistake(
        "sum_for_mean",
        "losses are summed; take the mean over the rows of a batch, and over the batches of an epoch",
        {"total / T": "total"},
        {LOSS: LOSS.replace("positive)", 'positive, reduction="sum")')},
        {LOSS: f"2 * {LOSS}"},
    ),
    Mistake(
        "loss_after_the_step",
        "each loss is taken after its step; take it before",
        {
            TOTAL: f"            unit = F.normalize({FEATURES}, dim=1)\n            logits = {LOGITS}\n"
            f"            total += {LOSS}.item()\n"
        },
    ),
    Mistake(
        "best_epoch_restored",
        "the encoder gets back the parameters of its best epoch; leave the encoder as it is after the last step",
        {
            MEAN: f"{MEAN}        if means[-1] == min(means):\n"
            "            kept = [p.detach().clone() for p in params]\n",
            "    return means": "    with torch.no_grad():\n        for p, old in zip(params, kept):\n"
            "            p.copy_(old)\n    return means",
        },
    ),
    Mistake(
        "early_end",
        "training ends when three epochs have not lowered the loss; go through all epochs",
        {
            MEAN: f"{MEAN}        if len(means) > 3 and min(means) < min(means[-3:]):\n"
            "            return means + means[-1:] * (epochs - len(means))\n"
        },
    ),
    Mistake(
        "in_eval_mode",
        "the encoder, or a part without trainable parameters, is not put into training mode; call encoder.train() "
        "first",
        {"    encoder.train()\n": ""},
        {
            "    encoder.train()\n": "    for module in encoder.modules():\n"
            "        module.training = any(p.requires_grad for p in module.parameters())\n"
        },
    ),
    Mistake(
        "seed_not_once",
        "the seed is ignored, perhaps only when it is 0, or is set again in each epoch; set it once, before all else",
        {SEED: ""},
        {"        total = 0.0\n": f"        total = 0.0\n    {SEED}"},
        {SEED: f"    if seed:\n    {SEED}"},
    ),
    Mistake(
        "every_pair_with_its_features",
        "all rows are broadcast against all, which takes D numbers for each of the (2N)² pairs; use a matrix product",
        {LOGITS: "(unit[:, None] * unit).sum(-1) / temperature"},
        slow=True,
    ),
)
UNPACKED = "unpacking views.shape, or a batch into its two views, also raises ValueError"
ON_CPU = "on the CPU it is made on the device of the views anyway; on a GPU the call raises"
EQUIVALENT = {
    "not_refused_1": UNPACKED,
    "if views.dim() != 4 or views.shape[1] != 2: -> if views.dim() != 4 and views.shape[1] != 2:": UNPACKED,
    "itself = torch.eye(2 * N, dtype=torch.bool, device=views.device) -> "
    "itself = torch.eye(2 * N, dtype=torch.bool)": ON_CPU,
    "positive = torch.arange(2 * N, device=views.device).roll(N) -> positive = torch.arange(2 * N).roll(N)": ON_CPU,
    "unit = F.normalize(features, dim=1) -> unit = F.normalize(features)": "1 is the default of dim",
}
# Sizes and numbers that are equal at every seed, and why.
FIXED = {
    "axis 1 of views": "always two views",
    "noise": "two sizes of the noise that an encoder may draw: an answer never sees it",
    "length of frozen": "the parameters that are named are w, or b and u",
    "old": "what .grad held before: a number, or NaN",
    "calls": "called again once: what is kept shows at the second call",
}
