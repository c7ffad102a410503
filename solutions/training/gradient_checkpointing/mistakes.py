"""Known wrong answers to gradient_checkpointing."""

from graders.kata import Mistake

CALL = "return RunAgain.apply(anchor, function, *args)"
ALL = f"def leaf(…{CALL}"
FORWARD = "return function(*args)"
KEPT = "ctx.function, ctx.args = function, args"
ARGS = "args = [leaf(one) for one in ctx.args]"
LEARNS = "one.detach().requires_grad_(one.requires_grad)"
BACK = "torch.set_rng_state(now)"
SAME_NUMBERS = "torch.set_rng_state(ctx.random_state)"
REACHED = "[i for i, one in enumerate(outputs) if one.requires_grad and upstream[i] is not None]"
PULL = "torch.autograd.backward([outputs[i] for i in reached], [upstream[i] for i in reached])"
RESULT = "return None, None, *(one.grad if isinstance(one, Tensor) else None for one in args)"
TUPLED = "outputs = made if isinstance(made, tuple) else (made,)"
RERUN = "made = ctx.function(*args)"
KEPT_GRAPH = """with torch.enable_grad():
                ctx.args = [leaf(one) for one in args]
                ctx.made = function(*ctx.args)
            if isinstance(ctx.made, tuple):
                return tuple(one.detach() for one in ctx.made)
            return ctx.made.detach()"""
ONLY_ARGUMENTS = """inputs = [one for one in args if isinstance(one, Tensor) and one.requires_grad]
            if reached and inputs:
                found = torch.autograd.grad(
                    [outputs[i] for i in reached], inputs, [upstream[i] for i in reached], allow_unused=True
                )
                for one, gradient in zip(inputs, found, strict=True):
                    one.grad = gradient"""
EACH_OUTPUT = """outputs = made if isinstance(made, tuple) else (made,)
            for i in range(len(outputs)):
                if i > 0 and outputs[i].requires_grad and upstream[i] is not None:
                    torch.set_rng_state(ctx.random_state)
                    with torch.enable_grad():
                        again = ctx.function(*args)
                    torch.set_rng_state(now)
                    torch.autograd.backward(again[i], upstream[i])
            outputs = outputs[:1]"""
ADDED_TWICE = """for one, other in zip(args, ctx.args, strict=True):
                if isinstance(one, Tensor) and one.grad is not None and other.is_leaf:
                    other.grad = one.grad.clone() if other.grad is None else other.grad + one.grad
            """
WITH_GRAD = "with torch.enable_grad():\n                    made"
ZEROS = {"ctx.set_materialize_grads(False)": "pass"}
EACH_TENSOR = """state = torch.get_rng_state()
    numbers = iter(range(10**9))

    def unpack(number: int) -> Tensor:
        again: list[Tensor] = []
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(state)
            with torch.autograd.graph.saved_tensors_hooks(again.append, lambda none: none):
                function(*args)
        return again[number].detach()

    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: next(numbers), unpack):
        return function(*args)"""

MISTAKES = (
    Mistake(
        "graph_kept",
        "the function runs once, with its graph kept until backward; keep only its arguments, and run it again in "
        "backward",
        {CALL: "return function(*args)"},
        {FORWARD: KEPT_GRAPH, ARGS: "args = ctx.args", RERUN: "made = ctx.made"},
    ),
    Mistake(
        "no_anchor",
        "if no argument requires grad, parameters within the function get no gradient; give the autograd.Function a "
        "tensor of its own that requires grad",
        {"torch.empty(0, requires_grad=True)": "torch.empty(0)"},
        unplanted=(
            {
                "torch.empty(0, requires_grad=True)": "torch.empty(0)",
                "one.requires_grad and upstream[i] is not None": "upstream[i] is not None",
            },
        ),
    ),
    Mistake(
        "second_run_without_gradients",
        "the second run records no graph, since gradients are off within backward; run it under torch.enable_grad()",
        {WITH_GRAD: WITH_GRAD.replace("enable_grad", "no_grad")},
        unplanted=(
            {
                WITH_GRAD: WITH_GRAD.replace("enable_grad", "no_grad"),
                "one.requires_grad and upstream[i] is not None": "upstream[i] is not None",
            },
        ),
    ),
    Mistake(
        "not_detached",
        "the second run gets the arguments with their graph, so backward runs into it too early, and some gradients "
        "are added twice; detach the arguments",
        {ARGS: "args = ctx.args"},
        {
            ARGS: "args = ctx.args",
            "one.requires_grad and upstream[i] is not None": "upstream[i] is not None",
        },
        {
            KEPT: f"{KEPT}\n            ctx.save_for_backward(*(one for one in args if isinstance(one, Tensor)))",
            ARGS: "saved = iter(ctx.saved_tensors)\n            "
            "args = [next(saved) if isinstance(one, Tensor) else one for one in ctx.args]",
        },
    ),
    Mistake(
        "every_tensor_learns",
        "all tensors among the arguments are made to require grad, which fails for whole numbers; keep requires_grad "
        "as it was",
        {LEARNS: "one.detach().requires_grad_()"},
    ),
    Mistake(
        "no_argument_learns",
        "no gradient reaches the arguments; give the detached ones the requires_grad that they had, and return their "
        ".grad",
        {LEARNS: "one.detach()"},
        {RESULT: "return None, None, *(None for one in args)"},
    ),
    Mistake(
        "gradients_out_of_step",
        "backward returns gradients for the tensors alone; it should return one for each argument, None for others",
        {RESULT: "return None, None, *(one.grad for one in args if isinstance(one, Tensor))"},
    ),
    Mistake(
        "added_twice",
        "gradients of arguments are added to their .grad, and returned as well, so they count twice; only return them",
        {RESULT: f"{ADDED_TWICE}{RESULT}"},
    ),
    Mistake(
        "pulled_back_twice",
        "backward goes through the second graph twice, so gradients inside are twice as large; go through it once",
        {
            PULL: "torch.autograd.backward([outputs[i] for i in reached], [upstream[i] for i in reached], "
            f"retain_graph=True)\n                {PULL}"
        },
    ),
    Mistake(
        "only_arguments",
        "only the arguments get gradients, as by torch.autograd.grad; parameters within the function need theirs: "
        "call torch.autograd.backward",
        {f"if reached:\n                {PULL}": ONLY_ARGUMENTS},
    ),
    Mistake(
        "upstream_ignored",
        "the second graph is pulled back from ones; use the gradients that backward gets",
        {"[upstream[i] for i in reached])": "[torch.ones_like(outputs[i]) for i in reached])"},
        {"[upstream[i] for i in reached])": "[torch.ones_like(outputs[i]) for i in reached])"} | ZEROS,
    ),
    Mistake(
        "numbers_redrawn",
        "the second run draws other random numbers than the first; set the generator to the state that it had before "
        "the first",
        {f"{SAME_NUMBERS}\n            try": "try"},
    ),
    Mistake(
        "generator_left_behind",
        "backward leaves the generator where the second run ended, so numbers are drawn again; put it back to where "
        "backward found it",
        {BACK: "pass"},
    ),
    Mistake(
        "generator_put_back_to_forward",
        "backward puts the generator back to where it was in forward, so what was drawn since is drawn again; put it "
        "back to where backward found it",
        {"now = torch.get_rng_state()": "now = ctx.random_state"},
    ),
    Mistake(
        "seeded_again",
        "the generator is seeded again for the second run; numbers drawn before it are forgotten, so keep its whole "
        "state: torch.get_rng_state()",
        {
            "ctx.random_state = torch.get_rng_state()": "ctx.random_state = torch.initial_seed()",
            SAME_NUMBERS: "torch.manual_seed(ctx.random_state)",
        },
        {"ctx.random_state = torch.get_rng_state()": "torch.manual_seed(0)", SAME_NUMBERS: "torch.manual_seed(0)"},
    ),
    Mistake(
        "first_output_only",
        "only the first output is pulled back; each output has a gradient of its own",
        {REACHED: "[i for i in range(1) if outputs[i].requires_grad and upstream[i] is not None]"},
        {REACHED: "[i for i in range(1) if outputs[i].requires_grad]"} | ZEROS,
    ),
    Mistake(
        "run_for_each_output",
        "the function runs again for each output; run it once, and pull all outputs back together",
        {TUPLED: EACH_OUTPUT},
        {TUPLED: EACH_OUTPUT} | ZEROS,
    ),
    Mistake(
        "run_for_each_tensor",
        "the function runs again for each saved tensor that backward needs; keep all tensors of one second run",
        unplanted=({ALL: EACH_TENSOR},),
    ),
    Mistake(
        "run_twice_in_forward",
        "the function runs twice in forward; run it once there, and once in backward",
        {FORWARD: f"function(*args)\n            {SAME_NUMBERS}\n            {FORWARD}"},
    ),
    Mistake(
        "unused_outputs_fail",
        "an output that nothing uses has None for its gradient, and backward fails; leave such outputs out",
        {REACHED: "[i for i, one in enumerate(outputs) if one.requires_grad]"},
    ),
    Mistake(
        "outputs_without_graph_fail",
        "an output without a graph, such as whole numbers, makes backward fail; leave out what does not require grad",
        {REACHED: "[i for i, one in enumerate(outputs) if upstream[i] is not None]"},
        {REACHED: "[*range(len(outputs))]", "ctx.set_materialize_grads(False)": "pass"},
        {
            REACHED: "[i for i, one in enumerate(outputs) if one.requires_grad or one.is_floating_point()]",
            "ctx.set_materialize_grads(False)": "pass",
        },
    ),
    Mistake(
        "one_output_expected",
        "the function's result is taken for one tensor; it may be a tuple of several",
        {TUPLED: "outputs = (made,)"},
    ),
    Mistake(
        "tuple_of_one_opened",
        "a tuple of one tensor comes back as that tensor; return what the function returns",
        {
            FORWARD: "made = function(*args)\n            "
            "return made[0] if isinstance(made, tuple) and len(made) == 1 else made"
        },
    ),
    Mistake(
        "list_for_tuple",
        "a tuple comes back as a list; return what the function returns",
        {
            CALL: "made = RunAgain.apply(anchor, function, *args)\n    "
            "return list(made) if isinstance(made, tuple) else made"
        },
    ),
    Mistake(
        "tensors_alone",
        "all arguments go into save_for_backward, which takes only tensors; keep the others on ctx",
        {
            "ctx.function, ctx.args = function, args": "ctx.function = function\n            "
            "ctx.save_for_backward(*args)",
            ARGS: "args = [leaf(one) for one in ctx.saved_tensors]",
        },
    ),
    Mistake(
        "tensors_first",
        "the second run gets all tensors before all other arguments; keep the arguments in their order",
        {
            RERUN: "made = ctx.function(*[one for one in args if isinstance(one, Tensor)], "
            "*[one for one in args if not isinstance(one, Tensor)])"
        },
    ),
    Mistake(
        "gradients_switched_on",
        "under torch.no_grad() a graph is built all the same; leave gradients as they are in forward",
        {CALL: "with torch.enable_grad():\n        return RunAgain.apply(anchor, function, *args)"},
    ),
    Mistake(
        "graph_kept_as_well",
        "the first run's graph is kept until backward, though the function runs again; run it without a graph",
        {FORWARD: KEPT_GRAPH},
        slow=True,
    ),
    Mistake(
        "calls_never_forgotten",
        "what each call keeps is also in a list that lives on, so memory grows with every step; keep it on ctx alone",
        {
            "def checkpoint(": "KEPT: list[Any] = []\n\n\ndef checkpoint(",
            FORWARD: "made = function(*args)\n            KEPT.append((args, made))\n            return made",
        },
        slow=True,
    ),
)

FIXED = {
    "*learn*": "which arguments learn: each alone, two pairs and none",
    "*used*": "which outputs are used: all, one and two",
    "at": "the function's first run or its second",
}
# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
UNUSED = "ctx.set_materialize_grads(False)"
ZERO = "an output that nothing uses then has a gradient of zeros, which adds nothing"
EQUIVALENT = {
    "anchor = torch.empty(0, requires_grad=True) -> anchor = torch.empty(1, requires_grad=True)": "of any size",
    f"{UNUSED} -> (deleted)": ZERO,
    f"{UNUSED} -> ctx": ZERO,
    f"{UNUSED} -> ctx.set_materialize_grads(True)": ZERO,
}
