"""What people do beside the mathematics, as a submission: no kata may refuse it. tests/test_honest_acts.py runs it."""

import ast
import collections
import contextlib
import copy
import dataclasses
import decimal
import enum
import functools
import gc
import inspect
import io
import itertools
import json
import logging
import math
import operator
import os
import pathlib
import pickle
import pprint
import random
import re
import statistics
import sys
import threading
import time
import timeit
import traceback
import typing
import unittest
import uuid
import warnings

import numpy
import torch
import torch.nn.functional as F
from torch import Tensor, nn

ACTS: dict[str, typing.Callable[[], None]] = {}


def act(function: typing.Callable[[], None]) -> typing.Callable[[], None]:
    ACTS[function.__name__] = function
    return function


class Layer(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs))

    def extra_repr(self) -> str:
        return f"{tuple(self.weight.shape)}"

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight.mT


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = Layer(4, 3), Layer(3, 2)
        self.register_buffer("seen", torch.zeros(3, dtype=torch.long))

    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.first(x) ** 2 + self.seen)


@dataclasses.dataclass
class Config:
    size: int = 3
    scale: Tensor = dataclasses.field(default_factory=lambda: torch.ones(2))


class Pair(typing.NamedTuple):
    one: Tensor
    other: Tensor


def tensors() -> list[Tensor]:
    leaf = torch.randn(3, 4, requires_grad=True)
    plain = torch.arange(12.0).view(3, 4)
    return [
        leaf, leaf * 2, leaf.sum(), leaf[0, 0], leaf.detach(), leaf.T, nn.Parameter(torch.ones(2)), plain, plain > 3,
        plain.long(), plain.half(), plain.bfloat16(), plain.double() / 7, plain * 1e9, plain / 1e9, plain.log(),
        plain.sqrt() * 1j, torch.tensor(3), torch.tensor(True), torch.tensor([]), torch.empty(0, 3),
        torch.full((3,), math.nan), torch.full((3,), -math.inf), torch.randn(200, 200), torch.randn(2, 2, 2, 2),
        torch.randn(3, 1).expand(3, 4), plain[:, ::2], torch.zeros(2, 3, dtype=torch.uint8), plain.to_sparse(),
    ]  # fmt: skip


@act
def prints():
    for one in tensors():
        print(one)


@act
def shows():
    for one in tensors():
        f"{one} {one!r} {one.shape} {one.dtype} {one.device} {one.requires_grad}"
        str(one), repr(one), "%s" % one, "{}".format(one), pprint.pformat({"x": [one]})
        f"{one.size()} {one.stride()} {one.numel()} {one.ndim} {one.is_leaf} {one.is_contiguous()} {len(one.shape)}"


@act
def shows_a_number():
    x = torch.tensor(1.5)
    f"{x:.3f} {x.item():.3f} {float(x)} {x.tolist()}", f"{torch.tensor(3):d}"


@act
def shows_modules():
    net = Net()
    print(net, list(net.parameters()), dict(net.named_parameters()), net.state_dict(), net.first.weight.grad)
    print(nn.Sequential(Net(), nn.Dropout()), nn.ParameterList([nn.Parameter(torch.ones(2))]))


@act
def shows_a_container():
    x = torch.ones(2, requires_grad=True)
    print([x, x * 2], {"x": x}, Pair(x, x), Config(), (x.grad, x.grad_fn, (x * 2).shape))


@act
def sets_how_to_print():
    torch.set_printoptions(precision=3, sci_mode=False, linewidth=120)
    print(torch.randn(3, 3), torch.randn(3, 3, requires_grad=True))
    torch.set_printoptions(profile="full")
    str(torch.randn(40, 40))
    torch.set_printoptions(profile="default")


@act
def logs():
    logger = logging.getLogger(__name__)
    logging.basicConfig(level=logging.INFO)
    logger.info("x is %s", torch.ones(2, requires_grad=True))
    logger.debug("x is %s", torch.ones(2))


@act
def warns():
    warnings.warn(f"odd: {torch.ones(2)}", stacklevel=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("odd", UserWarning, stacklevel=1)


@act
def tells_where_it_is():
    try:
        raise ValueError(f"x should be 1, got {torch.ones(2)}")
    except ValueError:
        traceback.format_exc()


@act
def copies():
    x = torch.randn(3, requires_grad=True)
    copy.deepcopy(x), copy.copy(x), copy.deepcopy({"x": [x, 1]}), copy.deepcopy(nn.Parameter(torch.ones(2)))
    copy.deepcopy(Net()), copy.copy(Net()), copy.deepcopy(Config()), dataclasses.replace(Config(), size=4)
    dataclasses.asdict(Config()), Net().load_state_dict(Net().state_dict())


@act
def saves():
    for one in (torch.randn(3), torch.randn(3, requires_grad=True), Net().state_dict(), {"x": torch.ones(2)}):
        file = io.BytesIO()
        torch.save(one, file)
        file.seek(0)
        torch.load(file)
    torch.save(Net(), io.BytesIO())


@act
def asserts():
    x = torch.randn(3, 4)
    assert x.shape == (3, 4) and x.isfinite().all() and torch.equal(x, x) and torch.allclose(x, x.clone()), x
    torch.testing.assert_close(x, x.clone())
    torch.testing.assert_close(x.requires_grad_(), x * 1)
    torch.testing.assert_close({"x": [x]}, {"x": [x.clone()]})
    torch._assert(True, "no")
    torch._assert_async(torch.tensor(True))


@act
def asserts_and_fails():
    try:
        torch.testing.assert_close(torch.ones(3), torch.zeros(3))
    except AssertionError as error:
        str(error)


@act
def has_modes():
    with torch.no_grad():
        torch.ones(2, requires_grad=True) * 2
    with torch.enable_grad(), contextlib.suppress(ValueError), contextlib.nullcontext():
        torch.ones(2, requires_grad=True) * 2
    with torch.set_grad_enabled(False), torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        torch.randn(2, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        print(torch.ones(2) * 2)
    with torch.autocast("cpu", enabled=False), torch.device("cpu"):
        torch.ones(2) * 2


@act
def decorates():
    @functools.wraps(math.sqrt)
    @torch.no_grad()
    def one(x: Tensor) -> Tensor:
        return x * 2

    @functools.lru_cache(maxsize=None)
    def table(n: int) -> Tensor:
        return torch.arange(n)

    @functools.singledispatch
    def of(x):
        return x

    one(torch.ones(2)), table(3), of(torch.ones(2)), functools.partial(one, torch.ones(2))()
    functools.reduce(torch.add, [torch.ones(2)] * 3), typing.cast(Tensor, 1), typing.get_type_hints(one)


@act
def reshapes():
    x = torch.randn(2, 3, 4)
    x.view(6, 4), x.reshape(-1), x.flatten(1), x.unflatten(2, (2, 2)), x.permute(2, 0, 1), x.transpose(0, 1), x.mT
    x.movedim(0, -1), x[None], x[..., None], x.unsqueeze(1).squeeze(1), x.chunk(2), x.split(2, -1), x.unbind()
    x.expand(5, 2, 3, 4), x.repeat(2, 1, 1), x.repeat_interleave(2, 0), torch.einsum("bij,bkj->bik", x, x)
    torch.cat([x, x]), torch.stack([x, x]), x.roll(1, 0), x.flip(0), x.tril(), x.diagonal(dim1=1, dim2=2), x[:, [0, 2]]
    x.gather(1, torch.zeros(2, 1, 4, dtype=torch.long)), x.masked_fill(x > 0, 0), x.where(x > 0, 0), F.pad(x, (1, 1))
    F.one_hot(torch.tensor([0, 2]), 3), torch.meshgrid(x[0, 0], x[0, 1], indexing="ij"), torch.atleast_2d(x[0, 0])
    torch.broadcast_tensors(x, x[0]), torch.broadcast_shapes((2, 1), (3,)), torch.block_diag(x[0], x[1])


@act
def writes_in_place():
    x = torch.zeros(3, 4)
    x[0], x[:, 1], x[x > 0] = 1, torch.ones(3), 2
    (
        x.add_(1).mul_(2).clamp_(min=0).fill_(3).copy_(torch.ones(3, 4)).zero_(),
        x.index_add_(0, torch.tensor([0]), torch.ones(1, 4)),
    )
    x.scatter_(1, torch.zeros(3, 1, dtype=torch.long), 1.0), x.masked_fill_(x > 0, 0), nn.init.zeros_(x)
    torch.add(x, 1, out=torch.empty(3, 4)), x.data.fill_(1), x.index_put_((torch.tensor([0]),), torch.tensor(1.0))


@act
def computes():
    x = torch.rand(3, 4, dtype=torch.float64) + 0.1
    x.exp().log().sqrt().pow(2).abs().sum(-1, keepdim=True), x.max(-1), x.amax(0), x.argmax(), x.var(0)
    x.std(), x.mean(), x.norm(), torch.linalg.norm(x), torch.linalg.vector_norm(x, dim=-1), x.topk(2), x.sort(-1)
    x.cumsum(0), x.expm1(), x.log1p(), x.nan_to_num(), x.quantile(0.5), x @ x.T, torch.mm(x, x.T)
    torch.matmul(x, x.T), x.clamp(0, 1), torch.finfo(x.dtype).eps, torch.linspace(0, 1, 3), torch.eye(3), x.unique()
    torch.bincount(torch.tensor([0, 1, 1])), torch.searchsorted(torch.arange(3), 1), torch.histc(x), x.to(torch.float32)
    (
        F.dropout(x, 0.5, training=False),
        F.linear(x, x),
        F.embedding(torch.tensor([0]), x),
        torch.rand_like(x),
        x.type_as(x),
    )
    torch.isclose(x, x), torch.result_type(x, 1), torch.promote_types(torch.half, torch.float), x.float().double().int()


@act
def holds_modules():
    net = Net().train().eval().double().float().to("cpu")
    net.requires_grad_(False), net.zero_grad(), list(net.children()), list(net.modules()), net.apply(print), net.half()
    net.first.register_forward_hook(lambda module, given, out: None), net.get_parameter("first.weight"), net.seen
    nn.ModuleList([Net()]), nn.ModuleDict({"net": Net()}), nn.Embedding(3, 2)(torch.tensor([1])), nn.Identity()(1)
    nn.Flatten()(torch.ones(2, 3, 4))
    nn.utils.parameters_to_vector(Net().parameters()), nn.Parameter(torch.ones(2)).data


@act
def holds_layers():
    print(nn.Linear(3, 2, dtype=torch.float64)(torch.ones(1, 3).double()), nn.Sequential(nn.Linear(2, 2), nn.Dropout()))
    copy.deepcopy(nn.Conv1d(2, 3, 1)), nn.Linear(2, 2).state_dict()


@act
def uses_python():
    random.random(), time.perf_counter(), timeit.timeit(lambda: 1, number=3), inspect.signature(doubled), os.getcwd()
    print(sys.version, file=sys.stderr), sys.stdout.write("x\n"), sys.stdout.flush(), inspect.getsource(doubled)
    collections.namedtuple("Pair", "x y")(1, 2), collections.Counter("aab"), list(itertools.product("ab", "cd"))
    traceback.print_stack(), sys.exc_info(), sys.getsizeof(1), gc.collect(), json.dumps({"x": 1}), re.sub("a", "b", "a")
    enum.Enum("Reduction", "MEAN SUM"), operator.itemgetter(0)([1]), uuid.uuid4(), os.environ.get("DEBUG")
    thread = threading.Thread(target=print)
    thread.start(), thread.join(), pickle.loads(pickle.dumps(torch.ones(2))), numpy.sqrt(2.0), numpy.random.rand(2)
    unittest.TestCase().assertEqual(1, 1), help, ast.literal_eval("1"), decimal.Decimal(1), statistics.mean([1, 2])


@act
def uses_torch_beside_the_mathematics():
    torch.set_default_dtype(torch.float64), torch.set_default_dtype(torch.float32), torch.get_num_threads()
    torch.cuda.is_available(), torch.use_deterministic_algorithms(False), torch.is_grad_enabled(), torch.__version__
    torch.fx.symbolic_trace(doubled)(torch.ones(2)), torch.seed(), torch.initial_seed(), torch.get_rng_state()
    torch.utils.checkpoint.checkpoint(doubled, torch.ones(2), use_reentrant=False), torch.overrides.is_tensor_like(1)


@act
def scripts():
    source = "def twice(x: Tensor) -> Tensor:\n    return x * 2\n"
    assert torch.jit.CompilationUnit(source).twice(torch.ones(1)) == 2


@act
def scripts_a_helper():
    assert torch.jit.script(doubled)(torch.ones(1)) == 2


@act
def scripts_a_module():
    print(torch.jit.script(Doubled()), torch.jit.script(Doubled())(torch.ones(1)))


@act
def traces():
    assert torch.jit.trace(doubled, torch.ones(1))(torch.ones(1)) == 2
    torch.jit.trace(Doubled(), torch.ones(1))(torch.ones(1))


def doubled(x: Tensor) -> Tensor:
    return x * 2


class Doubled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale


@act
def maps():
    torch.vmap(lambda x, y: (x * y).sum(), in_dims=(0, None))(torch.ones(3, 2), torch.ones(2))
    torch.vmap(torch.dot)(torch.ones(3, 2), torch.ones(3, 2)), torch.func.vmap(lambda x: x[0])(torch.ones(3, 2))
    torch.vmap(lambda x: print(x) or x * 2)(torch.ones(3, 2))


@act
def calls_functionally():
    net = Net()
    torch.func.functional_call(net, {"second.weight": torch.ones(2, 3)}, (torch.ones(1, 4),))
    torch.func.functional_call(net, dict(net.named_parameters()), (torch.ones(1, 4),))


@act
def differentiates():
    x = torch.randn(3, requires_grad=True)
    (x**2).sum().backward(), print(x.grad, x), torch.autograd.grad((x**2).sum(), x)
    torch.func.grad(lambda x: (x**2).sum())(torch.ones(2)), torch.func.jacrev(lambda x: x**2)(torch.ones(2))
    torch.func.vmap(torch.func.grad(lambda x: (x**2).sum()))(torch.ones(2, 2))
    torch.utils.checkpoint.checkpoint(doubled, x, use_reentrant=False).sum().backward()
    torch.utils.checkpoint.checkpoint(doubled, x, use_reentrant=True).sum().backward()
    torch.jit.script(doubled)(x).sum().backward(), torch.jit.trace(doubled, x)(x).sum().backward()
    with torch.autograd.graph.saved_tensors_hooks(lambda one: one.half(), lambda one: one.float()):
        (x**2).sum().backward()
    torch.autograd.functional.hessian(lambda x: (x**3).sum(), torch.ones(2))
    torch.autograd.gradcheck(lambda x: x**2, torch.ones(2, dtype=torch.float64, requires_grad=True))


@act
def looks_for_anomalies():
    torch.autograd.set_detect_anomaly(True)
    print((torch.ones(2, requires_grad=True) * 2).sum())
    torch.autograd.set_detect_anomaly(False)
    with torch.autograd.detect_anomaly():
        torch.ones(2, requires_grad=True) * 2


@act
def hooks():
    x = torch.ones(2, requires_grad=True)
    (x * 2).register_hook(lambda grad: grad * 2), x.retain_grad(), (x * 2).retain_grad(), x.detach_().requires_grad_()


@act
def has_a_function_of_its_own():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx, grad):
            return 2 * ctx.saved_tensors[0] * grad

    print(Square.apply(torch.ones(2, requires_grad=True)))


@act
def has_a_tensor_of_its_own():
    class Named(Tensor):
        pass

    print(torch.ones(2).as_subclass(Named) * 2)


@act
def has_tensors_of_rows_of_any_length():
    rows = [torch.ones(2, 3), torch.ones(1, 3)]
    nested = torch.nested.nested_tensor(rows, layout=torch.jagged)
    print(torch.nested.nested_tensor(rows), nested, nested.values(), nested.offsets(), (nested * 2).sum(-1))
    nested.to_padded_tensor(0.0), nested.unbind(), nn.utils.rnn.pad_sequence(rows, batch_first=True)


@act
def has_modes_of_its_own():
    class Functions(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    class Operators(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    with Functions(), Operators(), torch.profiler.record_function("twice"):
        torch.ones(2, requires_grad=True) * 2


@act
def looks_where_it_is():
    here = inspect.currentframe()
    inspect.stack()[0].function, inspect.getframeinfo(here).lineno, sys._getframe().f_code.co_name, here.f_back
    inspect.getmembers(doubled), inspect.getdoc(Net), inspect.getmodule(doubled), typing.get_type_hints(Net.forward)


@act
def iterates():
    for row in torch.randn(3, 2):
        for one in row:
            float(one), int(one), bool(one), one.item()
    list(torch.ones(2)), zip(torch.ones(2), torch.ones(2)), len(torch.ones(2)), torch.ones(2) in [], dir(torch.ones(2))
    for x, y in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(4, 2), torch.ones(4)), 2):
        x + y


@act
def compiles():
    assert torch.compile(doubled, backend="eager")(torch.ones(1)) == 2
    torch.compile(Doubled(), backend="eager")(torch.ones(1))
    assert torch.compile(doubled)(torch.ones(1)) == torch.compile(fullgraph=True)(doubled)(torch.ones(1)) == 2
    Doubled().compile()


@act
def keeps_a_log():
    log = pathlib.Path(__file__).parent / "answer.log"
    log.write_text("begun\n")
    assert log.read_text() == "begun\n"


def failures(names: list[str]) -> list[str]:
    """What each of these acts raised; nothing where all is well."""
    failed = []
    for name in names:
        try:
            ACTS[name]()
        except BaseException as error:  # also what would end the process
            failed.append(f"{name}: {type(error).__name__}: {error}")
    return failed
