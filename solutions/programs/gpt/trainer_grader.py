"""What is checked of trainer.py: its step by the kata train_step's grader, whose known mistakes it also has."""

import dataclasses
import runpy
from pathlib import Path
from types import SimpleNamespace

import torch
from torch import nn

from graders.kata import Answer, Arguments, Case, Draw, Grader, Mistake, planted_as

ROOT = Path(__file__).parents[3]
STEP = runpy.run_path(str(ROOT / "katas/training/train_step/grader.py"))["GRADER"].answers[0]
KNOWN: tuple[Mistake, ...] = runpy.run_path(str(ROOT / "solutions/training/train_step/mistakes.py"))["MISTAKES"]
FILE = Path(__file__).with_name("trainer.py")
RIGHT = runpy.run_path(str(FILE))
TEXT = FILE.read_text(encoding="utf-8")


def groups(model: nn.Module, decay: float = 0.01) -> SimpleNamespace:
    """In place of an optimiser, whose constructor takes seconds to import what it needs."""
    matrices, vectors = ([p for p in model.parameters() if (p.dim() > 1) == flag] for flag in (True, False))
    made = [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]
    return SimpleNamespace(param_groups=made)


# Scenarios


def decays(make_optimizer, widths, decay):
    model = nn.Sequential(nn.Embedding(widths[0], widths[1]), nn.Linear(widths[1], widths[2]), nn.LayerNorm(widths[2]))
    names = {id(p): name for name, p in model.named_parameters()}
    groups = make_optimizer(model, decay).param_groups
    return sorted([names[id(p)], group["weight_decay"]] for group in groups for p in group["params"])


def fitted(fit, x, y, w, steps, first, last):
    """A table of logits is fitted by plain gradient descent."""

    class Table(nn.Module):
        def __init__(self):
            super().__init__()
            self.w, self.modes = nn.Parameter(w.clone()), set()

        def forward(self, ids):
            self.modes.add(self.training)
            return self.w[ids]

    class Optimizer(torch.optim.Optimizer):  # without its constructor, which takes seconds to import what it needs
        def __init__(self):
            self.param_groups = [{"params": [one], "lr": 0.0} for one in model.parameters()]

        def zero_grad(self, set_to_none=True):
            model.w.grad = None

        def step(self, closure=None):
            if model.w.grad is not None:
                model.w.data -= self.param_groups[0]["lr"] * 20 * model.w.grad

    model, taken, logged = Table(), [], []
    optimizer = Optimizer()
    model.eval()

    def next_batch():
        place = len(taken) % len(x)
        taken.append(place)
        return x[place], y[place]

    fit(model, optimizer, next_batch, steps, first, last, lambda step, loss, rate: logged.append([step, loss, rate]))
    return {
        "logged": w.new_tensor(logged),
        "batches": len(taken),
        "training": [*model.modes],
        "weights": model.w.detach(),
    }


def evaluated(evaluate, lines, length, w):
    class Table(nn.Module):
        def __init__(self):
            super().__init__()
            self.w, self.seen = nn.Parameter(w.clone()), []

        def loss(self, ids):
            self.seen.append([self.training, torch.is_grad_enabled()])
            logits = nn.functional.dropout(self.w[ids], 0.5, self.training)[:, :-1]
            return nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())

    model = Table()
    model.train()
    found = {"losses": [evaluate(model, lines, length), evaluate(model, lines, length)]}
    calls = [f"training {training}, gradients {recorded}" for training, recorded in model.seen]
    return found | {"calls": sorted(set(calls)), "training afterwards": model.training}


def resumed(save, load, w, numbers):
    """What stands in a new model, its optimiser, its generator and torch's own after a checkpoint."""

    class Optimizer:
        def __init__(self, value):
            self.value = value

        def state_dict(self):
            return {"value": self.value}

        def load_state_dict(self, state):
            self.value = state["value"]

    def new(value):
        model = nn.Linear(w.shape[1], w.shape[0], bias=False)
        model.weight.data.fill_(value)
        return model, Optimizer(value), torch.Generator().manual_seed(int(value))

    file = torch.serialization.io.BytesIO()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(numbers[0])
        model, optimizer, generator = new(numbers[1])
        model.weight.data.copy_(w)
        torch.rand(3, generator=generator)
        save(file, model, optimizer, generator, numbers[2])
        wanted = [torch.rand(2, generator=generator).tolist(), torch.rand(2).tolist()]
        file.seek(0)
        model, optimizer, generator = new(numbers[3])
        step = load(file, model, optimizer, generator)
        drawn = [torch.rand(2, generator=generator).tolist(), torch.rand(2).tolist()]
    return {
        "step": step,
        "weights": model.weight.detach().to(w),
        "optimizer": optimizer.value,
        "generator": "as saved" if drawn[0] == wanted[0] else "another",
        "torch's own generator": "as saved" if drawn[1] == wanted[1] else "another",
    }


# Inputs


def tables(draw: Draw, first: int, last: int) -> Arguments:
    x, y = draw.integers(5, 2, 4, high=6), draw.integers(5, 2, 4, high=6)
    return {"x": x, "y": y, "w": draw.normal(6, 6), "steps": 30, "first": first, "last": last}


def lines(draw: Draw) -> Arguments:
    return {
        "lines": [draw.integers(size, high=6).tolist() for size in (11, 3, 7, 5)],
        "length": 4,
        "w": draw.normal(6, 6, std=2),
    }


def checkpoints(draw: Draw) -> Arguments:
    return {"w": draw.normal(2, 3), "numbers": [draw.size(1, 99), 3.0, draw.size(9, 99), 7.0]}


def rates(*more: Arguments) -> list[Arguments]:
    return [
        {"step": step, "steps": steps} | one for step in (0, 3, 9, 10, 40, 99) for steps in (100, 140) for one in more
    ]


IN_FLOAT32 = {"dtypes": (torch.float32,)}
GRADER = Grader(
    answers=(
        dataclasses.replace(
            STEP, budgets=(), cases=tuple(case for case in STEP.cases if case.in_core or case.name == "stale_gradients")
        ),
        Answer(
            "learning_rate(step, steps, warmup=10, highest=0.012, lowest=0.0003)",
            oracle=RIGHT["learning_rate"],
            half=False,
            cases=(
                Case("rates", lambda draw: rates({})),
                Case("other_rates", lambda draw: rates({"warmup": 4, "highest": 0.5, "lowest": 0.125})),
            ),
        ),
        Answer(
            "make_optimizer(model, decay=0.01)",
            oracle=groups,
            half=False,
            cases=(Case("decays", lambda draw: {"widths": [5, draw.size(3, 6), 2], "decay": 0.25}, scenario=decays),),
        ),
        Answer(
            "fit(model, optimizer, next_batch, steps, first=0, last=None)",
            oracle=RIGHT["fit"],
            half=False,
            records=True,
            cases=(
                Case("fitted", lambda draw: tables(draw, 0, 12), scenario=fitted, **IN_FLOAT32),
                Case("goes_on", lambda draw: tables(draw, 7, 15), scenario=fitted, **IN_FLOAT32),
            ),
        ),
        Answer(
            "evaluate(model, lines, length)",
            oracle=RIGHT["evaluate"],
            half=False,
            records=True,
            cases=(Case("evaluated", lines, scenario=evaluated, **IN_FLOAT32),),
        ),
        Answer(
            "save(path, model, optimizer, generator, step)",
            oracle=RIGHT["save"],
            half=False,
            records=True,
            cases=(Case("saved", checkpoints, scenario=resumed, **IN_FLOAT32),),
        ),
        Answer(
            "load(path, model, optimizer, generator)",
            oracle=RIGHT["load"],
            half=False,
            records=True,
            cases=(Case("resumed", checkpoints, scenario=resumed, **IN_FLOAT32),),
        ),
    ),
)


WARMUP = "return highest * (step + 1) / warmup"
SET = '            group["lr"] = rate\n'
OWN = (
    Mistake(
        "warmup_in_whole_numbers",
        "the warm-up is an integer division, so the rate is 0 and then the highest; use /",
        {WARMUP: "return highest * ((step + 1) // warmup)"},
    ),
    Mistake(
        "warmup_by_all_steps",
        "the warm-up is divided by all steps, so it ends far below the highest rate; divide by the warm-up's steps",
        {WARMUP: "return highest * (step + 1) / steps"},
    ),
    Mistake(
        "rate_a_hundred_times_too_large",
        "the highest rate is 1.2, far too large; AdamW needs one near 1.2e-2 here",
        {"highest: float = 1.2e-2": "highest: float = 1.2"},
    ),
    Mistake(
        "rate_a_hundred_times_too_small",
        "the highest rate is 1.2e-4, far too small for so few steps; it should be 1.2e-2",
        {"highest: float = 1.2e-2": "highest: float = 1.2e-4"},
    ),
    Mistake(
        "cosine_of_a_fraction",
        "the cosine gets the progress without π, so the rate hardly falls; multiply it by π",
        {"math.cos(math.pi * progress)": "math.cos(progress)"},
    ),
    Mistake(
        "rate_of_a_copy",
        "the rate is set in a copy of the group, so the optimiser never gets it; set it in the group itself",
        {SET: '            group = {**group, "lr": rate}\n'},
    ),
    Mistake(
        "rate_of_the_first_group",
        "only the first group gets the rate, so vectors never learn; set it in all groups",
        unplanted=[{"for group in optimizer.param_groups:": "for group in optimizer.param_groups[:1]:"}],
    ),
    Mistake(
        "vectors_not_given",
        "the optimiser has no vectors, so biases and norms are never learned; give it both groups",
        unplanted=[{"return torch.optim.AdamW(groups,": "return torch.optim.AdamW(groups[:1],"}],
    ),
    Mistake(
        "clipped_to_nothing",
        "gradients are clipped to a norm of nearly 0, so nothing is learned; max_norm should be 1",
        {"max_norm=1.0": "max_norm=1e-12"},
    ),
    Mistake(
        "evaluated_in_training",
        "the model is evaluated with dropout on; call model.eval() first",
        {"    model.eval()\n    total, count": "    total, count"},
    ),
    Mistake(
        "left_in_evaluation",
        "after an evaluation the model stays in eval mode, so training goes on without dropout; call model.train()",
        unplanted=[{"    model.train()\n    return total / count": "    return total / count"}],
    ),
    Mistake(
        "gradients_in_evaluation",
        "the evaluation records what gradients would need; put it under torch.no_grad()",
        unplanted=[{"@torch.no_grad()\ndef evaluate": "def evaluate"}],
    ),
    Mistake(
        "mean_of_windows",
        "each window counts alike, however many tokens it has; weigh its loss by its targets",
        unplanted=[{"item() * targets": "item()", "count += targets": "count += 1"}],
    ),
    Mistake(
        "overlapping_windows",
        "windows go on where the last one ended, so the token between two is never a target; begin one earlier",
        unplanted=[{"range(0, len(line) - 1, length - 1)": "range(0, len(line) - 1, length)"}],
    ),
    Mistake(
        "optimizer_not_loaded",
        "the optimiser's state is not put back, so AdamW begins anew after a resume; load it",
        {'    optimizer.load_state_dict(state["optimizer"])\n': ""},
    ),
    Mistake(
        "model_not_loaded",
        "the model's weights are not put back; load them",
        {'    model.load_state_dict(state["model"])\n': ""},
    ),
    Mistake(
        "data_not_resumed",
        "the batches' generator is not put back, so a resume sees other batches; set its state",
        {'    generator.set_state(state["data"])\n': ""},
    ),
    Mistake(
        "dropout_not_resumed",
        "torch's own generator is not put back, so dropout differs after a resume; set its state",
        {'    torch.set_rng_state(state["dropout"])\n': ""},
    ),
    Mistake(
        "resumed_at_the_step_before",
        "the checkpoint's last step is done again after a resume; return the next step, as it was saved",
        {'return state["step"]': 'return state["step"] - 1'},
    ),
)
SHOWN = ("never_cleared", "cleared_before_the_step", "no_step", "means_added", "shifted_again", "last_loss")
MISTAKES = (*OWN, *planted_as([one for one in KNOWN if not one.slow], TEXT, SHOWN))
