"""Known wrong answers to linear_probe."""

from graders.kata import Mistake

CLASSES = "C = int(torch.cat([train_y, test_y]).max()) + 1"
PROBE = "nn.Linear(train_x.shape[1], C)"
EPOCH = "    for _ in range(epochs):\n"
LOSS = "loss = F.cross_entropy(probe(train_x.float()), train_y)"
GRADIENTS = "gradients = torch.autograd.grad(loss, parameters)  # of W and b alone, whatever the features hang on"
STEP = "                p -= lr * g\n"
RIGHT = "right = probe(test_x.float()).argmax(1) == test_y  # (M,)"
SHARE = "right.double().mean().item()"
MSE = "loss = F.mse_loss(probe(train_x.float()), F.one_hot(train_y, C).float())"


def first(lines: str) -> dict[str, str]:
    """With these lines before the probe is made."""
    return {CLASSES: "\n    ".join([*lines.splitlines(), CLASSES])}


def batches_of(rows: int) -> dict[str, str]:
    lines = f"""    generator = torch.Generator().manual_seed(seed)
{EPOCH}        for rows in torch.randperm(len(train_x), generator=generator).split({rows}):
            loss = F.cross_entropy(probe(train_x[rows].float()), train_y[rows])
            for p, g in zip(parameters, torch.autograd.grad(loss, parameters)):
                p.data -= lr * g
    for _ in []:
"""
    return {EPOCH: lines}


def standardised(by: str) -> dict[str, str]:
    lines = f"mean, std = {by}.mean(0), {by}.std(0) + 1e-6\ntest_x = (test_x - mean) / std\n"
    return first(lines + "train_x = (train_x - train_x.mean(0)) / (train_x.std(0) + 1e-6)")


MISTAKES = (
    Mistake(
        "trained_on_the_test_set",
        "the probe is also trained on the test set; train it only on the training set",
        {LOSS: "loss = F.cross_entropy(probe(torch.cat([train_x, test_x]).float()), torch.cat([train_y, test_y]))"},
    ),
    Mistake(
        "accuracy_on_the_training_set",
        "the accuracy is measured on the training set; measure it on the test set",
        {RIGHT: "right = probe(train_x.float()).argmax(1) == train_y"},
    ),
    Mistake(
        "best_epoch_on_the_test_set",
        "the best of all epochs is chosen by the test labels; return the accuracy after the last epoch",
        {
            EPOCH: f"    accuracies = []\n{EPOCH}",
            STEP: f"{STEP}        {RIGHT}\n        accuracies.append({SHARE})\n",
            f"return {SHARE}": "return max(accuracies)",
        },
    ),
    Mistake(
        "statistics_of_the_test_set",
        "features are standardised with statistics of test rows; use the training set's statistics for both sets",
        standardised("test_x"),
        first("both = torch.cat([train_x, test_x])\nmean, std = both.mean(0), both.std(0) + 1e-6")
        | {LOSS: LOSS.replace("train_x", "((train_x - mean) / std)")}
        | {RIGHT: RIGHT.replace("test_x", "((test_x - mean) / std)")},
    ),
    Mistake(
        "last_batch_dropped",
        "the last training rows are left out, perhaps a whole class; use all rows",
        {LOSS: LOSS.replace("train_x", "train_x[:256]").replace("train_y", "train_y[:256]")},
    ),
    Mistake(
        "no_bias",
        "classes on one side of 0 are not told apart, as where the map has no bias, each row is divided by its norm, "
        "or the softmax runs over the rows; give every class a bias, and mend the others if they are there",
        {PROBE: "nn.Linear(train_x.shape[1], C, bias=False)"},
    ),
    Mistake(
        "hidden_layer",
        "the probe has a hidden layer, which separates classes that no affine map separates; use one affine map",
        {PROBE: "nn.Sequential(nn.Linear(train_x.shape[1], 64), nn.ReLU(), nn.Linear(64, C))"},
    ),
    Mistake(
        "regression",
        "the probe is trained by squared errors, which can hide a class between others; use cross-entropy",
        {LOSS: MSE},
        {
            PROBE: "nn.Linear(train_x.shape[1], 1)",
            LOSS: "loss = F.mse_loss(probe(train_x.float() / 8)[:, 0], train_y.float())",
            RIGHT: "right = probe(test_x.float() / 8)[:, 0].round() == test_y",
        },
    ),
    Mistake(
        "nearest_class_mean",
        "the class with the nearest mean is predicted, which fails where one class spreads wider than another; "
        "train W and b",
        {
            RIGHT: "classes = train_y.unique()\n"
            "    means = torch.stack([train_x[train_y == c].float().mean(0) for c in classes])\n"
            "    right = classes[torch.cdist(test_x.float(), means).argmin(1)] == test_y"
        },
    ),
    Mistake("percent", "the accuracy is in percent; return a share from 0 to 1", {SHARE: f"100 * {SHARE}"}),
    Mistake("tensor", "the accuracy is a tensor; return a Python float", {SHARE: "right.float().mean()"}),
    Mistake(
        "not_seeded",
        "two calls with one seed differ, since the caller's random state decides what is drawn; let the seed decide it",
        {"        torch.manual_seed(seed)\n": ""},
    ),
    Mistake(
        "features_get_gradients",
        "gradients flow back into the features and what made them; detach the features, or take only the "
        "gradients of W and b",
        {GRADIENTS: "probe.zero_grad()\n        loss.backward()\n        gradients = [p.grad for p in parameters]"},
    ),
    Mistake(
        "dtype_of_the_features",
        "the features keep their dtype: with a float32 W the product fails, and with a W in half precision it "
        "overflows or rounds; compute in float32",
        {LOSS: LOSS.replace(".float()", ""), RIGHT: RIGHT.replace(".float()", "")},
        {
            LOSS: LOSS.replace(".float()", ""),
            RIGHT: RIGHT.replace(".float()", ""),
            PROBE: PROBE[:-1] + ", dtype=train_x.dtype)",
        },
    ),
    Mistake(
        "accuracy_in_half",
        "the mean is taken in the features' dtype, and bfloat16 has 3 digits at most; take it in float32",
        {SHARE: "right.to(test_x.dtype).mean().item()"},
    ),
    Mistake(
        "labels_renumbered_apart",
        "labels are renumbered, so that one number can mean two classes; keep the labels as they are",
        first("train_y, test_y = (y.unique(return_inverse=True)[1] for y in (train_y, test_y))"),
        first("test_y, train_y = (torch.searchsorted(train_y.unique(), y) for y in (test_y, train_y))"),
    ),
    Mistake(
        "classes_counted",
        "as many classes are made as there are distinct labels, but labels may have gaps; take the largest label "
        "plus 1",
        {CLASSES: "C = len(torch.cat([train_y, test_y]).unique())"},
    ),
    Mistake(
        "mean_of_batches",
        "the accuracies of batches are averaged, although the last batch is shorter; divide the number of right "
        "predictions by M",
        {SHARE: "torch.stack([one.double().mean() for one in right.split(256)]).mean().item()"},
    ),
    Mistake(
        "small_batches",
        "the batches have fewer than 256 rows; take all rows at once, or 256 or more",
        batches_of(32),
        batches_of(128),
        batches_of(16),
    ),
    Mistake(
        "solved_in_one_go",
        "epochs or lr has no effect; make `epochs` passes over the training set, with lr as the learning rate",
        {EPOCH: EPOCH.replace("epochs", "100")},
        {STEP: STEP.replace("lr", "0.5")},
        {STEP: STEP.replace("lr", "0.5"), EPOCH: EPOCH.replace("epochs", "300")},
    ),
    Mistake(
        "all_pairs",
        "all predictions meet all labels in an M × M table, of which only the diagonal is used; compare (M,) with (M,)",
        {RIGHT: "right = (probe(test_x.float()).argmax(1)[:, None] == test_y).diagonal()"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
MADE = "probe = nn.Linear(train_x.shape[1], C).to(train_x.device) -> probe = "
PAIRS = "for p, g in zip(parameters, gradients, strict=True): -> for p, g in zip(parameters, gradients"
EQUIVALENT = {
    f"{CLASSES} -> C = torch.cat([train_y, test_y]).max() + 1": "nn.Linear also takes a tensor of one number",
    f"{CLASSES} -> {CLASSES[:-1]}2": "one class more is never right",
    f"{MADE}nn.Linear(train_x.shape[1], C)": "on the CPU it is made there anyway; on a GPU the call raises",
    f"{PAIRS}):": "there is a gradient for each parameter",
    f"{PAIRS}, strict=False):": "there is a gradient for each parameter",
}
# Sizes and numbers that are equal at every seed, and why.
FIXED = {
    "axis 1 of *": "points on a line, in the plane, in 6 and in 128 dimensions",
    "epochs": "enough for every right probe to settle, or one",
    "lr": "rates at which every right probe settles",
    "seed": "any seed is right: an answer is compared with itself at two",
}
