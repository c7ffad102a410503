"""Dynamic batching by hand. Statement: katas/decoding/dynamic_batching/README.md."""

from collections.abc import Callable, Sequence

Request = tuple[list[int], int, list[list[int]]]  # prompt, max_tokens, stop


def serve(requests: Sequence[Request], capacity: int, step: Callable[[list[list[int]]], list[int]]) -> list[list[int]]:
    """Generates for all requests with as few calls of step as possible: a slot that is free is filled at once.

    Args:
        requests: of each the prompt, how many tokens are generated at most, and the sequences that end it.
        capacity: how many texts a call takes at most, at least 1.
        step: texts, each a prompt and what was generated for it -> the next token of each text.
    Returns: what was generated for each request, in the order of the requests; a stop sequence is part of it.
    Raises: ValueError if capacity is below 1, a max_tokens below 0, or a stop sequence empty.
    Source: Orca (Yu et al., OSDI 2022), where this is called iteration-level scheduling.
    """
    # TODO: refuse bad arguments, before the first call.
    # TODO: which requests need no call at all?
    # TODO: before each call, let waiting requests enter, in order, while a slot is free.
    # TODO: give step copies of the texts, and each new token to its own request.
    # TODO: who has ended: by the number of tokens, or by a stop sequence at the end of what was generated?
    raise NotImplementedError
