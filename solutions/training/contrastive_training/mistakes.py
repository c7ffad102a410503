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
        "sum_for_mean",
        "losses are summed; take the mean over the rows of a batch, and over the batches of an epoch",
        {"total / T": "total"},
        {LOSS: LOSS.replace("positive)", 'positive, reduction="sum")')},
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
