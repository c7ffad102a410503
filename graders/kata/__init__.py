"""The words that an author writes a kata's grader and mistakes in: `from graders.kata import …` is all it takes."""

from graders.faults import CheckFailed
from graders.kata import attention, bans, calls, comm, far, normalized, several, two_views
from graders.kata.compare import close, same_dtype, same_shape, shown
from graders.kata.draw import Draw
from graders.kata.mistakes import Mistake, planted_as
from graders.kata.spec import Answer, Arguments, Budget, Case, Grader, Inputs, Submission
from graders.kata.tolerances import FULL, HALF, TOLERANCES, Tolerance, dtype_name, last_places

__all__ = [
    "FULL", "HALF", "TOLERANCES", "Answer", "Arguments", "Budget", "Case", "CheckFailed", "Draw", "Grader", "Inputs",
    "Mistake", "Submission", "Tolerance", "attention", "bans", "calls", "close", "comm", "dtype_name", "far",
    "last_places", "normalized", "planted_as", "same_dtype", "same_shape", "several", "shown", "two_views",
]  # fmt: skip
