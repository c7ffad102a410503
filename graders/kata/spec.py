"""The words an author writes a grader in: answers, cases, budgets. Everything here is data, refused if unusable."""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

import torch
from torch import Tensor

from graders.faults import GraderError
from graders.kata.draw import Draw
from graders.kata.scenario import on_ranks, source_of
from graders.kata.signatures import parameters_of
from graders.kata.tolerances import FULL, HALF, TOLERANCES, Tolerance

CATEGORIES = ("contract", "shapes", "numerics", "gradients", "robustness", "rules", "performance")

Arguments = dict[str, Any]
Inputs = Callable[..., Arguments | list[Arguments]]  # of a Draw, and of sizes


class Submission(Protocol):
    """What a kata's own test functions get as `submission`."""

    def call(
        self,
        name: str,
        *,
        init: dict[str, Any] | None = None,
        parameters: dict[str, Tensor] | None = None,
        like: Any = None,
        **arguments: Any,
    ) -> Any:
        """Calls the answer of this name; gives back what it returned, tensors on the CPU.

        What comes back has been compared: its form and its tensors' shapes and dtypes are those of `like`, which has
        any numbers; without it, those of what the oracle returns. A list of texts and whole numbers may be of any
        length.
        """

    def run(
        self,
        scenario: Callable[..., Any],
        *,
        like: Any = None,
        summary: Callable[[Any], Any] | None = None,
        **inputs: Any,
    ) -> Any:
        """Runs a scenario on these inputs (see Case); gives back what it returned, compared as by `call`.

        With `summary`, gives back what this function makes of the result, in the judge: where the raw numbers are
        random, the diagnosis compares two answers by that.
        """


@dataclass(frozen=True, eq=False)
class Case:
    """One set of inputs, or a list of them that are tested together.

    Args:
        name: words joined by underscores; `-k` selects by it.
        inputs: draw -> keyword arguments of the call, or a list of such; None calls only a module's constructor. They
            are tensors, numbers, texts, and lists or tuples of numbers and texts: a scenario makes all else from them.
        sizes: axis -> (least, most): each size is drawn from the seed, all different while there are enough. `inputs`
            gets them after `draw`; `init` is then a function that gets them, as in a Budget.
        scenario: what happens in place of one call, as a function of this module that runs beside the submission. Its
            first parameters are the answers' names: it is given the submission's functions and classes for them, and
            the inputs for the rest. What it returns is compared with what it returns for the oracles. It may use torch,
            nn, F and math, and nothing else of this module. Let it return data rather than verdicts of its own. If it
            compares, let it call functions (`torch.equal(a, b)`): a submission could have changed tensors' methods.
            The keys of a dict should be texts. Return bytes by `.hex()`, and many numbers as one tensor.
        init: keyword arguments of a module's constructor.
        dtypes: the floating dtypes in which the case is tested, each by checks of its own.
        half: it is also tested in half precision, by the checks that test the first case there.
        gradients: "exact" compares them by value (where the oracle's is NaN, anything finite is right), "finite"
            only asks that they are finite, "none" asks nothing.
        category: where its values are counted, "numerics" or "robustness".
        raises: ValueError where the call should raise it (or fail an assert); (ValueError, IndexError) where torch
            itself raises the second at an index out of range.
        tolerance: instead of the answer's, by dtype.
        core: False where right mathematics may still fail it: an edge that looks ordinary, such as integer labels or an
            empty batch. What raises, and what counts in robustness, is never part of the core.
    """

    name: str
    inputs: Inputs | None
    init: Mapping[str, Any] | Callable[..., dict[str, Any]] = field(default_factory=dict)
    dtypes: tuple[torch.dtype, ...] = FULL
    half: bool = False
    gradients: Literal["exact", "finite", "none"] = "exact"
    category: Literal["numerics", "robustness"] = "numerics"
    raises: type[ValueError] | tuple[type[ValueError], type[IndexError]] | None = None
    tolerance: Mapping[torch.dtype, Tolerance] = field(default_factory=dict)
    scenario: Callable[..., Any] | None = None
    core: bool = True
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def in_core(self) -> bool:
        """Whether right mathematics passes it: no bad arguments, and no edge."""
        return self.core and not self.raises and self.category == "numerics"

    def calls(self, draw: Draw) -> list[Arguments]:
        """The arguments of each call; none where there are no inputs. Raises: GraderError where they cannot be made."""
        with self.blamed():
            made = self.inputs(draw, **draw.sizes(**self.sizes)) if self.inputs else []
        made = made if isinstance(made, list) else [made]
        if self.scenario and on_ranks(self.scenario):
            for ranks in (given.get("ranks") for given in made):
                if not ranks or sorted(ranks) != [*range(len(ranks))]:
                    raise GraderError(f"case {self.name}: ranks should be a permutation, such as [1, 0], got {ranks!r}")
        return made

    def constructed(self, draw: Draw) -> Mapping[str, Any]:
        """The arguments of the constructor, of the sizes of `calls`. Raises: GraderError where they cannot be made."""
        with self.blamed():
            return self.init(**draw.sizes(**self.sizes)) if callable(self.init) else self.init

    @contextlib.contextmanager
    def blamed(self) -> Iterator[None]:
        """What the author's functions raise is a fault of this case. Raises: GraderError."""
        try:
            yield
        except GraderError:
            raise
        except Exception as error:
            why = f"{type(error).__name__}: {error}".removesuffix(": ")
            raise GraderError(f"the grader's case {self.name} failed: {why}") from error

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise GraderError(f"a case's name should be an identifier, got {self.name!r}")
        if self.scenario:
            source_of(self.scenario)
        if self.inputs is None and not self.raises:
            raise GraderError(f"case {self.name!r} should have inputs, or raise in the constructor")


@dataclass(frozen=True, eq=False)
class Budget:
    """What one call may cost at a size where the naive answer costs ten times as much; see budgets.py.

    Args:
        name: words joined by underscores; `-k` selects by it.
        sizes: axis -> (small, large), at least 4 times apart; the axes' names are used in messages.
        inputs: draw, and a size for each axis -> keyword arguments of the call; the oracle also gets the large ones.
        scenario: what happens in place of one call, as in a Case.
        init: a size for each axis -> keyword arguments of a module's constructor.
        asks: which of loops, memory and time.
        operators, written, peak, time: the most of each, as a multiple of what the reference needs: torch operators
            run; bytes of all that they made; bytes alive at the worst moment, without inputs and parameters; the
            processor's time. Each is taken over forward and backward.
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
    scenario: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        close = [axis for axis, (small, large) in self.sizes.items() if large < 4 * small]
        if not self.sizes or close or not self.name.isidentifier():
            raise GraderError(f"budget {self.name!r} should have axes whose sizes are at least 4 times apart: {close}")
        if self.scenario:
            source_of(self.scenario)
            if on_ranks(self.scenario):
                raise GraderError(f"budget {self.name!r}: what ranks cost is for a test of the kata, see kata/comm.py")

    @functools.cache  # noqa: B019  # budgets live as long as the grader does
    def case(self, grown: str | None) -> Case:
        """The case where every axis is large, or (by its name) one of them, or with "" none."""
        sizes = {axis: pair[grown in (None, axis)] for axis, pair in self.sizes.items()}
        return Case(
            f"{self.name}_{grown or 'small'}" if grown is not None else self.name,
            lambda draw: self.inputs(draw, **sizes),
            init=self.init(**sizes),
            dtypes=(torch.float32,),
            scenario=self.scenario,
        )


@dataclass(frozen=True, eq=False)
class Answer:
    """One function, one module, or one class, that a submission should define.

    Args:
        signature: as in the statement, e.g. "cosine_similarity(x, y, dim=-1, eps=1e-8)". A class that is no module has
            "class " in front, and no parentheses if the constructor's arguments are not tested.
        oracle: float64 inputs -> what is expected: a tensor, a number, a text, or tuples, lists and dicts of such. A
            module's oracle gets its parameters as a dict first, and the constructor's arguments beside the inputs. A
            class's is a right class, for the scenarios of its cases. None where only the kata's own tests judge it.
        cases: the first one should be typical, and leave out arguments that have a default: it is also tested in half
            precision.
        differentiable: the inputs that gradients should reach, or should not where the oracle detaches them; a
            module's parameters always count.
        forward: the signature of a module's forward; empty for a function.
        methods: the signatures of a class's methods that the statement names.
        parameters: constructor's arguments -> shape by parameter name, for a module.
        returns: the dtypes allowed for a floating output, where it is not the inputs'.
        half: the first case is also tested in half precision.
        records: the answer uses autograd itself, and is not called under no_grad.
        inference: it is called under inference_mode, where nothing can use autograd itself.
        tolerance: instead of TOLERANCES, by dtype.
        budgets: what a call may cost.
    """

    signature: str
    oracle: Callable[..., Any] | None
    cases: tuple[Case, ...] = ()
    differentiable: tuple[str, ...] = ()
    forward: str = ""
    methods: tuple[str, ...] = ()
    half: bool = True
    records: bool = False
    inference: bool = True
    parameters: Callable[..., dict[str, tuple[int, ...]]] | None = None
    returns: tuple[torch.dtype, ...] = ()
    tolerance: Mapping[torch.dtype, Tolerance] = field(default_factory=dict)
    budgets: tuple[Budget, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.forward) != bool(self.parameters):
            raise GraderError(f"{self.name}: a module needs both its forward and its parameters")
        first = self.cases[0] if self.cases else None
        if bool(first) != bool(self.oracle) or (first and (first.raises or first.sizes)):
            raise GraderError(f"{self.name}: an oracle needs cases, and the first one should be typical, without sizes")
        without = [one.name for one in self.asked if self.is_class and not (one.inputs and one.scenario)]
        if without:
            raise GraderError(f"{self.name}: a class's cases and budgets need a scenario: {', '.join(without)}")
        alone = [case.name for case in self.cases if not self.forward and case.inputs is None]
        if alone:
            raise GraderError(f"{self.name}: only a module's cases may be without inputs: {', '.join(alone)}")
        known = set(parameters_of(self.forward or self.signature))
        known |= {name for case in self.cases if case.scenario for name in inspect.signature(case.scenario).parameters}
        unknown = set(self.differentiable) - known
        if unknown:
            raise GraderError(f"{self.name}: no such inputs: {', '.join(sorted(unknown))}")

    @property
    def name(self) -> str:
        return self.signature.removeprefix("class ").partition("(")[0]

    @property
    def asked(self) -> tuple[Case | Budget, ...]:
        return *self.cases, *self.budgets

    @property
    def is_class(self) -> bool:
        return self.signature.startswith("class ")

    @property
    def signatures(self) -> dict[str, str]:
        """Dotted name -> signature, of all that a submission should define for this answer."""
        methods = [f"forward({self.forward.partition('(')[2]}"] if self.forward else list(self.methods)
        return {self.name: self.signature} | {f"{self.name}.{one.partition('(')[0]}": one for one in methods}

    @functools.cached_property
    def again(self) -> Case:
        """The first case with other values."""
        return replace(self.cases[0], name=f"{self.cases[0].name}_again")

    @functools.cached_property
    def halves(self) -> tuple[torch.dtype, ...]:
        """The dtypes of half precision, if the first case is asked in them: it has floating inputs, and float32's."""
        first = self.cases[0]
        values = [value for given in first.calls(Draw(0))[:1] for value in given.values()]
        floating = any(isinstance(value, Tensor) and value.is_floating_point() for value in values)
        return HALF if self.half and floating and torch.float32 in first.dtypes else ()

    def halves_in(self, case: Case) -> tuple[torch.dtype, ...]:
        """Those that a case is asked in together with the first one, or as the first one."""
        return self.halves if case is self.cases[0] or case.half else ()

    @property
    def differentiates(self) -> bool:
        """Whether any gradient can be asked for."""
        return bool(self.differentiable or self.parameters)

    def differentiates_in(self, case: Case) -> bool:
        return self.differentiates and case.gradients != "none"

    def dtypes_of(self, wanted: Tensor, dtype: torch.dtype) -> tuple[torch.dtype, ...]:
        """What a tensor of the result may have, where the oracle's is `wanted` and the inputs have `dtype`."""
        return self.returns or ((dtype,) if wanted.is_floating_point() else (wanted.dtype,))

    def tolerance_for(self, case: Case, dtype: torch.dtype) -> Tolerance:
        return case.tolerance.get(dtype) or self.tolerance.get(dtype) or TOLERANCES[dtype]


@dataclass(frozen=True, eq=False)
class Grader:
    """What is asked of one kata.

    Args:
        answers: what a submission should define.
        banned: names that may not be called in any spelling; `cdist` stands for every operator and torch
            function whose name starts with it; `distributions` and `optim` for what is
            in these modules of torch, `autograd` for all ways to a derivative, `foreach` for all
            operators on lists. Other libraries are refused in all katas alike.
    """

    answers: tuple[Answer, ...]
    banned: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [case.name for answer in self.answers for case in answer.cases]
        names += [budget.name for answer in self.answers for budget in answer.budgets]
        twice = {name for name in names if names.count(name) > 1}
        if not self.answers or twice:
            raise GraderError(f"a grader needs answers, and each case its own name; used twice: {sorted(twice)}")
        modules = {answer.name for answer in self.answers if answer.forward}
        for scenario in filter(None, (one.scenario for answer in self.answers for one in answer.asked)):
            for name in modules & inspect.signature(scenario).parameters.keys():
                raise GraderError(
                    f"scenario {scenario.__name__} should take functions and classes, but {name} has a forward: "
                    f'declare it as "class {name}(…)", with methods for forward and a right class for oracle'
                )

    @property
    def names(self) -> list[str]:
        """What a submission is asked to define, classes with their methods."""
        return [name for answer in self.answers for name in answer.signatures]

    def answer(self, name: str) -> Answer:
        return next(answer for answer in self.answers if answer.name == name)


def refuse_inputs(case: str, inputs: Arguments) -> None:
    """Raises: GraderError where an input would not reach a submission as it is."""
    for name, value in inputs.items():
        flat = [*value] if isinstance(value, tuple) else value
        if not isinstance(value, Tensor) and not is_plain(flat):
            raise GraderError(
                f"input {name} of {case} should be a tensor, a number, a text, or a list or tuple of numbers and "
                f"texts, got {repr(value)[:80]}"
            )


def is_plain(value: Any) -> bool:
    """Whether a value is a finite number, a text, None, or a list of such."""
    if isinstance(value, list):
        return all(map(is_plain, value))
    return value is None or isinstance(value, int | str) or (isinstance(value, float) and math.isfinite(value))
