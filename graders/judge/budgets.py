"""Budgets: what a submission may cost, as multiples of the reference on the same inputs.

Operators, memory and lines are counted, and the same in every run. Time is the processor's, read by the judge: where
one call takes clearly less than it may, that settles it; else the reference is read again, and where that does not
settle it either, both are asked on fresh inputs, in turn.

What costs no more than it may is asked once more at this size for its exact values and gradients.
"""

from __future__ import annotations

import math
import operator
import statistics

from torch import Tensor

from graders.faults import CheckFailed, GraderError
from graders.judge import correctness, robustness
from graders.judge.modes import Mode
from graders.judge.trial import Trial
from graders.judge.vectors import TestVectors
from graders.kata import compare
from graders.kata.spec import Answer, Budget
from graders.kata.tolerances import Tolerance
from graders.sandbox.messages import Cost, Measured, Reply, Request
from graders.sandbox.returned import Other, leaves_of
from graders.sandbox.submission import Submission

ROUGH = Tolerance(1e-3, 1e-3, 1e-4)  # two right answers at a large size; exactness is asked elsewhere
SPARE = {"operators": 60, "written": 1 << 20, "peak": 1 << 20}  # beyond the multiple, for small references
NOUNS = {"operators": "operators", "written": "memory written", "peak": "memory in use", "time": "processor time"}
FAST = 0.3  # of the limit: single readings were seen to differ by a factor of 5
CLEARLY_FAST = 0.15  # of the limit, where the reference was read for another submission: the machine may have changed
SURELY_SLOW = 5  # times the limit, where an answer is known to be slow and only its time is measured
REPEATS = 10
TELLING = 2  # times the reference's: below that a figure is noise, and is not shown; the reference itself read 1.6
MIN_READINGS = 3  # calls that all take more than twice what they may, or less than half of it
LARGER = 8192  # elements than the cases' tensors have
LARGEST = 1 << 17  # elements of a tensor with which some calls more are made
LEAST_MEGABYTES = 1e5  # bytes, below which they are shown as kB
GROWTH_MARGIN = 0.4  # an exponent that much above the reference's


def loops(answer: Answer, budget: Budget, trial: Trial) -> None:
    """A Python loop over an axis runs an operator each time round, or at least a line."""
    own = counted("operators", answer, budget, trial)
    shortest = min(large for _, large in budget.sizes.values())
    if own.lines >= shortest:
        raise CheckFailed(
            f"runs of one line: should be below {shortest}, the length of the shortest axis, got {own.lines:,}"
            f"{trial.submission.at(own.line)}{growth('lines', answer, budget, trial)}"
        )
    exact(answer, budget, trial)


def memory(answer: Answer, budget: Budget, trial: Trial) -> None:
    counted("peak", answer, budget, trial)
    counted("written", answer, budget, trial)
    exact(answer, budget, trial)


def exact(answer: Answer, budget: Budget, trial: Trial) -> None:
    """Holds the values and gradients of one large call of each answer against the oracle, as those of the cases are.

    It is made in the simplest way, and where that takes no time to speak of, in a few more modes.
    """

    def elements(budget: Budget) -> tuple[bool, int]:
        given = trial.vectors.arguments(budget.case(None))[0].values()
        largest = max((value.numel() for value in given if isinstance(value, Tensor)), default=0)
        return largest <= LARGER, largest

    if trial.brief or budget is not min(reversed(answer.budgets), key=elements):  # the smallest of them that is large
        return
    case, dtype = budget.case(None), answer.cases[0].dtypes[0]
    usual = trial.vectors.requests(answer, case, dtype, answer.differentiates)[0]
    requests = [(usual, dtype)]
    if elements(budget)[1] <= LARGEST:
        modes = trial.vectors.few_modes(answer, case)
        requests += [(trial.vectors.request(answer, case, mode, 0), mode.dtype) for mode in modes]
    for request, dtype in requests:
        if request.message in trial.verified:
            continue
        expected, tolerance = trial.vectors.expected(answer, case, dtype, 0), answer.tolerance_for(case, dtype)
        correctness.same_values(trial, request, expected.result, tolerance)
        for where, output in correctness.tensors(trial.result(request, expected.result)).items():
            wanted = correctness.tensors(expected.result)[where]
            compare.same_dtype(request.in_words(where), output, answer.dtypes_of(wanted, dtype))
        if request.cotangents:
            correctness.same_gradients(case, trial, request, expected.gradients, tolerance)
        robustness.same_inputs(trial, request)
        trial.verified.add(request.message)


def counted(figure: str, answer: Answer, budget: Budget, trial: Trial) -> Cost:
    """What the call cost, in all figures."""
    own, reference = (reply.cost for reply in full_size_replies(trial, answer, budget))
    assert own is not None
    got, needed = getattr(own, figure), getattr(reference, figure)
    cost_record(trial, budget)[figure] = (got, needed)
    most = limit(budget, figure, needed)
    words = "{:,.0f}".format if figure == "operators" else megabytes
    said = f"should be at most {words(most)} (the reference needs {words(needed)}), got "
    if got > most:
        raise CheckFailed(f"{NOUNS[figure]}: {said}{words(got)}{growth(figure, answer, budget, trial)}")
    if answer.differentiates and not answer.records:
        request, without = cost_without_gradients(trial, answer, budget)
        if getattr(without, figure) > most:
            raise CheckFailed(f"{request.in_words(NOUNS[figure])}: {said}{words(getattr(without, figure))}")
        own = max(own, without, key=operator.attrgetter("lines"))
    return own


def cost_without_gradients(trial: Trial, answer: Answer, budget: Budget) -> tuple[Request, Cost]:
    """A call under no_grad may do no more than one with gradients."""
    case = budget.case(None)
    mode = Mode(case.dtypes[0], gradients="off")
    request = trial.vectors.request(answer, case, mode, 0, "cost")
    reply = trial.ask(request)
    trial.refuse_calls([(request, reply)])
    if reply.cost is None:
        raise CheckFailed(f"{request.in_words('the call')}: should return a result, as it does with gradients")
    return request, reply.cost


def limit(budget: Budget, figure: str, needed: float) -> float:
    """The most that a call may cost where the reference's cost `needed`."""
    return float(getattr(budget, figure)) * needed + SPARE.get(figure, 0)


def cost_record(trial: Trial, budget: Budget) -> dict[str, tuple[float, float]]:
    """Where to write down what a person may want to see, whatever the verdict."""
    device = trial.vectors.device
    return trial.costs.setdefault(budget.name if device == "cpu" else f"{budget.name}/{device}", {})


def megabytes(count: float) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= LEAST_MEGABYTES else f"{count / 1e3:,.1f} kB"


def processor_time(answer: Answer, budget: Budget, trial: Trial) -> None:
    """Most of ten calls take no longer than they may, each beside one of the reference on the same fresh inputs.

    One is enough where it takes clearly less, with the reference asked twice, before it and after it or both times for
    another submission: what held up only the reference would let a slow answer pass. Three are enough where they agree.
    """
    measure: Measured = "time" if budget.asks == ("time",) else "cost"  # a loop over bytes takes far longer counted
    own, reference = full_size_replies(trial, answer, budget, measure)
    last = trial.last
    assert last is not None
    quickest, call = trial.vectors.quickest, last.message
    settled = own.seconds <= CLEARLY_FAST * budget.time * quickest.get(call, 0)
    if not settled:
        quickest[call] = min(reference.seconds, read_again(trial, answer, budget, measure).seconds)
        settled = own.seconds <= FAST * budget.time * quickest[call]
    ratios = [own.seconds / quickest[call]]
    surely = trial.brief and measure == "time" and ratios[0] > SURELY_SLOW * budget.time
    if not (settled or surely):
        ratios = []
        while len(ratios) < REPEATS and not enough(ratios, budget.time):
            vectors = TestVectors(
                trial.vectors.kata, trial.vectors.grader, (trial.vectors.seed, len(ratios)), trial.vectors.device
            )
            own, reference = measured_replies(trial, vectors, answer, budget, measure="time")
            ratios.append(own.seconds / reference.seconds)
    trial.last = last  # the call to show, and for the diagnosis
    ratio = statistics.median(ratios)
    if ratio >= TELLING and not settled:
        cost_record(trial, budget)["time"] = (round(ratio, 2), 1.0)
    if ratio > budget.time:
        raise CheckFailed(
            f"processor time: should be at most {budget.time:g} times the reference's, got "
            f"{compare.shown(ratio, budget.time)} times ({own.seconds:.2g} s)"
        )
    exact(answer, budget, trial)


def enough(ratios: list[float], most: float) -> bool:
    """Whether further ones would not matter: three agree clearly, or most of ten are on one side of the limit."""
    if len(ratios) >= MIN_READINGS and (min(ratios) > 2 * most or max(ratios) < most / 2):
        return True
    over = sum(ratio > most for ratio in ratios)
    return max(over, len(ratios) - over) > REPEATS / 2


def full_size_replies(trial: Trial, answer: Answer, budget: Budget, measure: Measured = "cost") -> tuple[Reply, Reply]:
    """The submission's reply and the reference's, every axis being large."""
    measured_replies(trial, trial.vectors, answer, budget, "", "time")  # warms both up, before anything is counted
    return measured_replies(trial, trial.vectors, answer, budget, measure=measure)


def measured_replies(
    trial: Trial,
    vectors: TestVectors,
    answer: Answer,
    budget: Budget,
    grown: str | None = None,
    measure: Measured = "cost",
) -> tuple[Reply, Reply]:
    """The replies of the submission and of the reference, whose values agree."""
    assert trial.reference is not None
    request = measured_request(vectors, answer, budget, grown, measure)
    try:
        reference = ask_reference(trial.reference, request)
        outputs = leaves_of(trial.result(request, reference.result), like=reference.result)
        own = trial.ask(request)
        if measure == "cost" and own.cost is None:
            raise CheckFailed("the call: returned something that cannot be read as a result")
        if request.message in trial.verified:
            return own, reference
        trial.refuse_calls([(request, own)])
        for where, wanted in leaves_of(reference.result).items():
            got = outputs[where]
            if isinstance(wanted, Other):
                raise GraderError(f"budget {budget.name}: {where} should be a tensor, a number or a text, got {wanted}")
            if isinstance(wanted, Tensor) and isinstance(got, Tensor):
                agree(correctness.of("values", where), got, wanted)
            else:
                correctness.same_leaf(where, where, got, wanted, ROUGH)
        for name, gradient in reference.gradients.items():
            got_gradient = own.gradients.get(name)
            if gradient is not None and got_gradient is not None:
                agree(f"gradient of {name}", got_gradient, gradient)
        trial.verified.add(request.message)
        return own, reference
    finally:
        if vectors is not trial.vectors:  # made for this once
            for submission in (trial.submission, trial.reference):
                submission.replies.pop(request.message, None)
            vectors.forget()


def measured_request(
    vectors: TestVectors, answer: Answer, budget: Budget, grown: str | None, measure: Measured
) -> Request:
    case = budget.case(grown)
    (request,) = vectors.requests(answer, case, case.dtypes[0], gradients=answer.differentiates, measured=measure)
    return request


def read_again(trial: Trial, answer: Answer, budget: Budget, measure: Measured) -> Reply:
    """The reference's reply, warmed up anew: its worker may be another one by now."""
    assert trial.reference is not None
    calls: list[tuple[str | None, Measured]] = [("", "time"), (None, measure)]
    for grown, how in calls:
        request = measured_request(trial.vectors, answer, budget, grown, how)
        trial.reference.replies.pop(request.message, None)
        reply = ask_reference(trial.reference, request)
    return reply


def ask_reference(reference: Submission, request: Request) -> Reply:
    """Raises: GraderError where it cannot be measured, which is no fault of the submission's."""
    reference.seconds, reference.bytes = 0.0, 0  # it is asked for many submissions, which have limits each
    try:
        reply = reference.ask(request)
    except CheckFailed as failure:
        raise GraderError(f"the reference cannot be measured: {failure}") from None
    if reply.died or reply.raised:
        why = reply.died or reference.explain(reply.raised)  # type: ignore[arg-type]  # one of them is there
        raise GraderError(f"the reference cannot be measured: the call {why}")
    return reply


def agree(subject: str, got: Tensor, wanted: Tensor) -> None:
    """In every element; as a rule the largest difference tells, which is quick to find."""
    compare.same_shape(subject, got, wanted)
    if wanted.numel() and wanted.is_floating_point():
        far, largest = (got - wanted).abs().max(), wanted.abs().max()
        if far <= ROUGH.scaled * largest < math.inf:
            return
    compare.close(subject, got, wanted, ROUGH)


def growth(figure: str, answer: Answer, budget: Budget, trial: Trial) -> str:
    """Which axis it grows with, more than the reference does, and what to do."""
    if trial.brief:
        return ""
    last, exponents = trial.last, {}
    try:
        small = measured_replies(trial, trial.vectors, answer, budget, "")
        for axis, sizes in budget.sizes.items():
            grown = measured_replies(trial, trial.vectors, answer, budget, axis)
            exponents[axis] = [
                math.log(max(getattr(two.cost, figure), 1) / max(getattr(one.cost, figure), 1))
                / math.log(sizes[1] / sizes[0])
                for one, two in zip(small, grown, strict=True)
            ]
    except CheckFailed:
        return ""  # what it costs is said already
    finally:
        trial.last = last  # that is the call to show
    axis = max(exponents, key=lambda axis: exponents[axis][0] - exponents[axis][1])
    own, reference = exponents[axis]
    if own - reference < GROWTH_MARGIN:
        return ""
    hint = f": {budget.hints[axis]}" if axis in budget.hints else ""
    if figure in ("operators", "lines"):
        return f"; they grow with the {axis} (exponent {own:.2f}), so a Python loop runs over it{hint}"
    return f"; it grows with the {axis} (exponent {own:.2f}, the reference's {reference:.2f}){hint}"
