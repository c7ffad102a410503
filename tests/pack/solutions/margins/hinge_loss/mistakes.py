"""Known wrong answers to hinge_loss."""

from graders.kata import Mistake

MISTAKES = (
    Mistake("no_margin", "scores of the right sign cost nothing; ask for a margin of 1", {"(1 - y": "(-y"}),
    Mistake("not_clamped", "scores beyond the margin lower the loss; stop at 0", {".clamp(min=0)": ""}),
    Mistake("sum_for_mean", "the losses are summed; average them", {".mean()": ".sum()"}),
)
