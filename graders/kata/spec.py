"""The words an author writes a grader in: answers, cases, tolerances. Everything here is data, refused if unusable."""

from __future__ import annotations

import ast
import functools
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import torch
from torch import Tensor

from graders.faults import GraderError

CATEGORIES = ("contract", "shapes", "numerics", "gradients", "robustness", "rules", "performance")
FULL = (torch.float64, torch.float32)
HALF = (torch.float16, torch.bfloat16)

Arguments = dict[str, Any]


class Draw:
    """Seeded random values, float64 unless they are integers; the engine casts them to the dtype under test."""

    def __init__(self, *seed: object) -> None:
        text = "/".join(str(part) for part in seed)
        self.generator = torch.Generator().manual_seed(zlib.crc32(text.encode()))

    def normal(self, *shape: int, std: float = 1.0, mean: float = 0.0) -> Tensor:
        return torch.randn(shape, generator=self.generator, dtype=torch.float64) * std + mean

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> Tensor:
        return torch.rand(shape, generator=self.generator, dtype=torch.float64) * (high - low) + low

    def integers(self, *shape: int, low: int = 0, high: int) -> Tensor:
        return torch.randint(low, high, shape, generator=self.generator)

    def permutation(self, n: int) -> Tensor:
        return torch.randperm(n, generator=self.generator)


Inputs = Callable[[Draw], Arguments | list[Arguments]]


class Submission(Protocol):
    """What a kata's own test functions get as `submission`."""

    def call(
        self,
        name: str,
        *,
        init: dict[str, Any] | None = None,
        parameters: dict[str, Tensor] | None = None,
        **arguments: Any,
    ) -> Any:
        """Calls the answer of this name in float64 or whatever it is given; a tensor or a tuple of them."""


@dataclass(frozen=True)
class Tolerance:
    """|got − expected| ≤ relative·|expected| + scaled·max|expected| + absolute."""

    relative: float
    scaled: float
    absolute: float


TOLERANCES: dict[torch.dtype, Tolerance] = {
    torch.float64: Tolerance(1e-9, 1e-11, 1e-12),
    torch.float32: Tolerance(1e-4, 1e-5, 1e-5),
    torch.float16: Tolerance(1e-2, 5e-3, 1e-3),
    torch.bfloat16: Tolerance(6e-2, 3e-2, 1e-2),
}


@dataclass(frozen=True, eq=False)
class Case:
    """One set of inputs, or a list of them that are asked together.

    Args:
        name: words joined by underscores; `-k` selects by it.
        inputs: draw -> keyword arguments of the call, or a list of such; None calls only the constructor.
        init: keyword arguments of a module's constructor.
        dtypes: the floating dtypes that the case is asked in.
        gradients: "exact" compares them by value (where the oracle's is NaN, anything finite is right), "finite"
            only asks that they are finite, "none" asks nothing.
        category: where its values are counted, "numerics" or "robustness".
        raises: the call should raise ValueError (or fail an assert).
        tolerance: instead of the answer's, by dtype.
    """

    name: str
    inputs: Inputs | None
    init: Mapping[str, Any] = field(default_factory=dict)
    dtypes: tuple[torch.dtype, ...] = FULL
    gradients: Literal["exact", "finite", "none"] = "exact"
    category: Literal["numerics", "robustness"] = "numerics"
    raises: bool = False
    tolerance: Mapping[torch.dtype, Tolerance] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise GraderError(f"a case's name should be an identifier, got {self.name!r}")
        if self.inputs is None and not self.raises:
            raise GraderError(f"case {self.name!r} should have inputs, or raise in the constructor")


@dataclass(frozen=True, eq=False)
class Budget:
    """What one call may cost at a size where the naive answer costs ten times as much; see budgets.py.

    Args:
        name: words joined by underscores; `-k` selects by it.
        sizes: axis -> (small, large), at least 4 times apart; the axes' names are used in messages.
        inputs: draw, and a size for each axis -> keyword arguments of the call.
        init: a size for each axis -> keyword arguments of a module's constructor.
        asks: which of loops, memory and time.
        operators, written, peak, time: the most of each, as a multiple of what the reference needs: torch operators
            run; bytes of all that they made; bytes alive at the worst moment, beside inputs and parameters; the
            processor's time. All of forward and backward.
        hints: axis -> what to do instead.
    """

    name: str
    sizes: Mapping[str, tuple[int, int]]
    inputs: Callable[..., Arguments]
    init: Callable[..., dict[str, Any]] = lambda **sizes: {}
    asks: tuple[Literal["loops", "memory", "time"], ...] = ("loops", "memory")
    operators: float = 6
    written: float = 8
    peak: float = 6
    time: float = 8
    hints: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        close = [axis for axis, (small, large) in self.sizes.items() if large < 4 * small]
        if not self.sizes or close or not self.name.isidentifier():
            raise GraderError(f"budget {self.name!r} should have axes whose sizes are at least 4 times apart: {close}")

    @functools.cache  # noqa: B019  # budgets live as long as the grader does
    def case(self, grown: str | None = None) -> Case:
        """The case where every axis is large, or (by its name) one of them, or with "" none."""
        sizes = {axis: pair[grown in (None, axis)] for axis, pair in self.sizes.items()}
        return Case(
            f"{self.name}_{grown or 'small'}" if grown is not None else self.name,
            lambda draw: self.inputs(draw, **sizes),
            init=self.init(**sizes),
            dtypes=(torch.float32,),
        )


@dataclass(frozen=True, eq=False)
class Answer:
    """One function, or one module, that a submission should define.

    Args:
        signature: as in the statement, e.g. "cosine_similarity(x, y, dim=-1, eps=1e-8)".
        oracle: float64 inputs -> expected output or tuple of outputs. A module's oracle gets its parameters
            as a dict first, and the constructor's arguments beside the inputs.
        cases: the first one should be typical: it is asked in half precision as well.
        differentiable: the inputs that gradients should reach; a module's parameters always count.
        forward: the signature of a module's forward; empty for a function.
        parameters: constructor's arguments -> shape by parameter name, for a module.
        returns: the dtypes allowed for an output, where it is not the inputs'.
        tolerance: instead of TOLERANCES, by dtype.
        budgets: what a call may cost.
    """

    signature: str
    oracle: Callable[..., Tensor | tuple[Tensor, ...]]
    cases: tuple[Case, ...]
    differentiable: tuple[str, ...] = ()
    forward: str = ""
    parameters: Callable[..., dict[str, tuple[int, ...]]] | None = None
    returns: tuple[torch.dtype, ...] = ()
    tolerance: Mapping[torch.dtype, Tolerance] = field(default_factory=dict)
    budgets: tuple[Budget, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.forward) != bool(self.parameters):
            raise GraderError(f"{self.name}: a module needs both its forward and its parameters")
        if not self.cases or self.cases[0].raises:
            raise GraderError(f"{self.name}: the first case should be a typical one")
        unknown = set(self.differentiable) - set(parameters_of(self.forward or self.signature))
        if unknown:
            raise GraderError(f"{self.name}: no such inputs: {', '.join(sorted(unknown))}")

    @property
    def name(self) -> str:
        return self.signature.partition("(")[0]

    @property
    def differentiates(self) -> bool:
        """Whether any gradient can be asked for."""
        return bool(self.differentiable or self.parameters)

    def differentiates_in(self, case: Case) -> bool:
        return self.differentiates and case.gradients != "none"

    def tolerance_for(self, case: Case, dtype: torch.dtype) -> Tolerance:
        return case.tolerance.get(dtype) or self.tolerance.get(dtype) or TOLERANCES[dtype]


@dataclass(frozen=True, eq=False)
class Grader:
    """What is asked of one kata.

    Args:
        answers: what a submission should define.
        banned: names that may not be called in any spelling; `cdist` stands for every operator and torch
            function whose name starts with it.
    """

    answers: tuple[Answer, ...]
    banned: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [case.name for answer in self.answers for case in answer.cases]
        names += [budget.name for answer in self.answers for budget in answer.budgets]
        twice = {name for name in names if names.count(name) > 1}
        if not self.answers or twice:
            raise GraderError(f"a grader needs answers, and cases with names of their own; twice: {sorted(twice)}")

    @property
    def names(self) -> list[str]:
        """What a submission is asked to define; modules with their `forward`."""
        return [name for answer in self.answers for name in (answer.name, f"{answer.name}.forward")]

    def answer(self, name: str) -> Answer:
        return next(answer for answer in self.answers if answer.name == name)


@functools.cache
def parameters_of(signature: str) -> Mapping[str, Any]:
    """Name -> default of a signature's text, in order; `...` where there is no default."""
    name, _, rest = signature.partition("(")
    tree = ast.parse(f"def {name or 'forward'}({rest}: ...").body[0]
    assert isinstance(tree, ast.FunctionDef)
    names = [argument.arg for argument in tree.args.args]
    defaults = [ast.literal_eval(default) for default in tree.args.defaults]
    return dict(zip(names, [...] * (len(names) - len(defaults)) + defaults, strict=True))


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
