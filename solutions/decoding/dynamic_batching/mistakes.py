"""Known wrong answers to dynamic_batching."""

from graders.kata import Mistake

ENTER = "        while waiting and len(running) < capacity:\n            running.append(waiting.pop(0))\n"
TEXTS = "texts = [requests[i][0] + generated[i] for i in running]"
WAITING = "waiting = [i for i, (_, max_tokens, _) in enumerate(requests) if max_tokens > 0]"
RUNNING = "running: list[int] = []"
ZIP = "zip(running, step(texts), strict=True)"
COUNT = "len(generated[i]) == max_tokens"
MATCH = "any(generated[i][-len(s) :] == s for s in stop)"
MATCHED = "generated[i][-len(s) :] == s for s in stop"
LEFT = "running = unfinished"
RESULT = "return generated"
TOKEN = "generated[i].append(token)"
REFUSALS = """    for _, max_tokens, stop in requests:
        if max_tokens < 0:
            raise ValueError(f"max_tokens should be at least 0, got {max_tokens}")
        if not all(stop):
            raise ValueError(f"each stop sequence should have a token, got {stop}")
"""
ON_ENTRY = """        while waiting and len(running) < capacity:
            _, max_tokens, stop = requests[waiting[0]]
            if max_tokens < 0 or not all(stop):
                raise ValueError("max_tokens should be at least 0, and each stop sequence have a token")
            running.append(waiting.pop(0))
"""
OWN_LISTS = {
    RUNNING: f"{RUNNING}\n    texts_of = [[*prompt] for prompt, _, _ in requests]",
    TEXTS: "texts = [texts_of[i] for i in running]",
    TOKEN: f"{TOKEN}\n            texts_of[i].append(token)",
}


WHOLE_TEXTS = {
    RUNNING: f"{RUNNING}\n    begin = [len(prompt) for prompt, _, _ in requests]\n"
    "    texts_of = [[*prompt] for prompt, _, _ in requests]",
    TEXTS: "texts = [texts_of[i] for i in running]",
    TOKEN: "texts_of[i].append(token)\n            generated[i] = texts_of[i][begin[i] :]",
    COUNT: COUNT.replace("==", ">="),
}


def refilled(when: str) -> dict[str, str]:
    """A batch as a list of its own, filled from the waiting ones."""
    return {ENTER: f"        if {when}:\n            running, waiting = waiting[:capacity], waiting[capacity:]\n"}


def caught(what: str, then: str) -> dict[str, str]:
    return {
        TEXTS: f"{TEXTS}\n        try:\n            tokens = step(texts)\n        except {what} as error:\n"
        f"            {then}",
        ZIP: "zip(running, tokens, strict=True)",
    }


MISTAKES = (
    Mistake(
        "static_batches",
        "a new batch begins only once every request of the old one has ended; fill each slot as soon as it is free",
        refilled("not running"),
    ),
    Mistake(
        "padded_batches",
        "requests that have ended are sent again until their whole batch has ended; leave them out, and let others in",
        {
            **refilled("not running"),
            RUNNING: f"{RUNNING}\n    batch: list[int] = []",
            TEXTS: "batch = running if running and not set(running) <= set(batch) else batch\n        "
            "texts = [requests[i][0] + generated[i] for i in batch]",
            ZIP: "zip(batch, step(texts), strict=True)",
            "            generated[i].append(token)": "            if i not in running:\n                continue\n"
            "            generated[i].append(token)",
        },
    ),
    Mistake(
        "ended_sent_again",
        "requests that have ended stay in the texts while nobody takes their slot; send only those that go on",
        {
            RUNNING: f"{RUNNING}\n    ended_ones: list[int] = []",
            TEXTS: "ended_ones = ended_ones[max(len(ended_ones) + len(running) - capacity, 0) :]\n        "
            "texts = [requests[i][0] + generated[i] for i in running + ended_ones]",
            ZIP: "zip(running, step(texts), strict=False)",
            LEFT: "ended_ones += [i for i in running if i not in unfinished]\n        running = unfinished",
        },
    ),
    Mistake(
        "one_text_a_call",
        "step is called once for each text; give it all running texts in one call",
        {"step(texts)": "[step([text])[0] for text in texts]"},
    ),
    Mistake(
        "one_enters_a_call",
        "before a call at most one waiting request enters; let requests enter while a slot is free",
        {"        while waiting and len(running)": "        if waiting and len(running)"},
    ),
    Mistake(
        "enters_a_call_late",
        "a slot stays empty for one call after its request has ended; fill it before the next call",
        {
            RUNNING: f"{RUNNING}\n    free = capacity",
            ENTER: "        while waiting and free > 0:\n            running.append(waiting.pop(0))\n"
            "            free -= 1\n        free = capacity - len(running)\n",
        },
        {
            **refilled("not running"),
            TEXTS: f"room = capacity - len(running)\n        {TEXTS}",
            LEFT: "running = unfinished + [waiting.pop(0) for _ in range(min(room, len(waiting)))]",
        },
    ),
    Mistake(
        "another_order",
        "requests begin by their length, or the last one first; begin them in their order",
        {WAITING: f"{WAITING}\n    waiting.sort(key=lambda i: requests[i][1])"},
        {WAITING: f"{WAITING}\n    waiting.sort(key=lambda i: -requests[i][1])"},
        {WAITING: f"{WAITING}\n    waiting.sort(key=lambda i: len(requests[i][0]))"},
        {"waiting.pop(0)": "waiting.pop()"},
    ),
    Mistake(
        "above_capacity",
        "a call has more texts than capacity",
        {"len(running) < capacity": "len(running) <= capacity"},
        {"while waiting and len(running) < capacity": "while waiting"},
    ),
    Mistake(
        "below_capacity",
        "one slot is never filled; up to capacity texts fit in a call",
        {"len(running) < capacity": "len(running) < max(capacity - 1, 1)"},
    ),
    Mistake(
        "stop_across_the_prompt",
        "stop sequences are looked for at the end of the whole text, and match tokens of the prompt; look only at what "
        "was generated",
        {MATCH: "any((requests[i][0] + generated[i])[-len(s) :] == s for s in stop)"},
    ),
    Mistake(
        "stopped_by_the_prompt",
        "a request whose prompt ends with a stop sequence is not begun; only what is generated may end it",
        {
            WAITING: "waiting = [\n        i\n        for i, (prompt, max_tokens, stop) in enumerate(requests)\n"
            "        if max_tokens > 0 and not any(prompt[-len(s) :] == s for s in stop)\n    ]"
        },
        {MATCH: "any(requests[i][0][-len(s) :] == s or generated[i][-len(s) :] == s for s in stop)"},
    ),
    Mistake(
        "last_token_of_stop",
        "the last token alone is compared with a stop sequence; compare as many tokens as the sequence has",
        {MATCHED: "token == s[-1] for s in stop"},
        {MATCHED: "token in s for s in stop"},
        {MATCHED: "token == s[0] for s in stop"},
    ),
    Mistake(
        "tokens_in_any_order",
        "the last tokens are compared with a stop sequence as a set; their order matters",
        {MATCHED: "{*generated[i][-len(s) :]} == {*s} for s in stop"},
        {MATCHED: "sorted(generated[i][-len(s) :]) == sorted(s) for s in stop"},
        {MATCHED: "{*generated[i]} >= {*s} for s in stop"},
    ),
    Mistake(
        "texts_joined",
        "tokens are joined to a text before they are compared, and 1, 2 looks like 12; compare lists",
        {MATCH: 'any("".join(map(str, generated[i])).endswith("".join(map(str, s))) for s in stop)'},
    ),
    Mistake(
        "stop_from_the_start",
        "the first tokens that were generated are compared with a stop sequence; compare the last ones",
        {MATCHED: "generated[i][: len(s)] == s for s in stop"},
        {MATCHED: "generated[i] == s for s in stop"},
    ),
    Mistake(
        "progress_lost",
        "a counter of matched tokens falls back to 0 where a stop sequence breaks off, and misses one that has begun "
        "meanwhile; compare the last tokens",
        {
            RUNNING: f"{RUNNING}\n    matched: dict[tuple[int, int], int] = {{}}",
            "ended = len": "for n, s in enumerate(stop):\n                at = matched.get((i, n), 0)\n"
            "                matched[i, n] = at + 1 if at < len(s) and s[at] == token else 0\n            ended = len",
            MATCH: "any(matched[i, n] == len(s) for n, s in enumerate(stop))",
        },
        {
            RUNNING: f"{RUNNING}\n    matched: dict[tuple[int, int], int] = {{}}",
            "ended = len": "for n, s in enumerate(stop):\n                at = matched.get((i, n), 0)\n"
            "                matched[i, n] = at + 1 if s[at] == token else int(s[0] == token)\n            ended = len",
            MATCH: "any(matched[i, n] == len(s) for n, s in enumerate(stop))",
        },
    ),
    Mistake(
        "first_stop_alone",
        "only one of several stop sequences ends a request; any of them should",
        {MATCHED: "generated[i][-len(s) :] == s for s in stop[:1]"},
        {MATCHED: "generated[i][-len(s) :] == s for s in stop[-1:]"},
    ),
    Mistake(
        "all_stops_needed",
        "a request ends only if all its stop sequences match; one is enough",
        {"any(generated": "all(generated"},
        {MATCH: f"(stop and {MATCH.replace('any', 'all')})"},
    ),
    Mistake(
        "stop_ignored",
        "no stop sequence ends a request, as if a token were compared with a list",
        {f" or {MATCH}": ""},
        {MATCH: "token in stop"},
    ),
    Mistake(
        "max_tokens_ignored",
        "a request with stop sequences is not ended by max_tokens; whatever comes first should end it",
        {COUNT: "len(generated[i]) >= (40 if stop else max_tokens)"},
    ),
    Mistake(
        "stop_cut_off",
        "the stop sequence is cut off the result; it is part of it",
        {
            RESULT: "cut = {i: len(s) for i, (_, _, stop) in enumerate(requests) for s in stop[::-1] "
            "if generated[i][-len(s) :] == s}\n    return [one[: len(one) - cut.get(i, 0)] "
            "for i, one in enumerate(generated)]"
        },
    ),
    Mistake(
        "nothing_generated_anyway",
        "a request with max_tokens=0 gets a token; it is in no call, and its result is empty",
        {" if max_tokens > 0]": "]", COUNT: COUNT.replace("==", ">=")},
    ),
    Mistake(
        "empty_request_in_a_slot",
        "a request with max_tokens=0 takes a slot for one call; it needs none",
        {
            " if max_tokens > 0]": "]",
            TEXTS: "asked = [i for i in running if requests[i][1]]\n        if not asked:\n            running = []\n"
            "            continue\n        texts = [requests[i][0] + generated[i] for i in asked]",
            ZIP: "zip(asked, step(texts), strict=True)",
        },
    ),
    Mistake(
        "empty_call",
        "step is called with no text, where no request is left or none was made",
        {
            "while waiting or running:": "while True:",
            LEFT: f"{LEFT}\n        if not waiting and not running:\n            return generated",
        },
        {
            "while waiting or running:": "while True:",
            TEXTS: f"if requests and not running:\n            return generated\n        {TEXTS}",
            LEFT: f"{LEFT}\n        if not waiting and not running:\n            return generated",
        },
        {
            "while waiting or running:": "while True:",
            LEFT: f"{LEFT}\n        if not texts:\n            return generated",
        },
    ),
    Mistake(
        "one_token_off",
        "a request gets one token more or less than max_tokens",
        {COUNT: COUNT.replace("==", ">")},
        {COUNT: "len(generated[i]) >= max_tokens - 1"},
    ),
    Mistake(
        "prompt_counted",
        "max_tokens counts the prompt; it counts what is generated",
        {COUNT: "len(requests[i][0] + generated[i]) >= max_tokens"},
    ),
    Mistake(
        "prompt_returned",
        "the prompt is part of the result; return only what was generated",
        {RESULT: "return [request[0] + one for request, one in zip(requests, generated, strict=True)]"},
    ),
    Mistake(
        "in_order_of_ending",
        "the results are in the order in which the requests ended; return them in the order of the requests",
        {
            RUNNING: f"{RUNNING}\n    done = [i for i, request in enumerate(requests) if not request[1]]",
            LEFT: f"done += [i for i in running if i not in unfinished]\n        {LEFT}",
            RESULT: "return [generated[i] for i in done]",
        },
    ),
    Mistake(
        "by_place_in_the_batch",
        "a token goes to the request of the same place in the list, not to the one whose text it continues",
        {
            "for i, token in zip(running": "for n, (i, token) in enumerate(zip(running",
            "step(texts), strict=True)": "step(texts), strict=True))",
            TOKEN: "generated[n].append(token)",
            COUNT: "len(generated[i]) >= max_tokens or sum(map(len, generated)) > 200",
        },
        {
            TOKEN: "generated[running.index(i)].append(token)",
            COUNT: "len(generated[i]) >= max_tokens or sum(map(len, generated)) > 200",
        },
    ),
    Mistake(
        "removed_while_iterating",
        "ended requests are removed from the list that the loop runs over, so the next one is left out",
        {
            ZIP: "zip(running, step(texts), strict=False)",
            "            if not ended:\n                unfinished.append(i)": "            if ended:\n"
            "                running.remove(i)",
            f"        {LEFT}\n": "",
        },
    ),
    Mistake(
        "equal_requests_mixed",
        "equal requests are taken for one, as by requests.index or a dict of prompts; tell them apart by their number",
        {
            TOKEN: "i = requests.index(requests[i])\n            generated[i].append(token)",
            COUNT: COUNT.replace("==", ">="),
        },
        {
            TOKEN: "same = requests.index(requests[i])\n            generated[same].append(token)",
            COUNT: "len(generated[same]) >= max_tokens",
            MATCH: MATCH.replace("[i]", "[same]"),
        },
        {
            RESULT: "found = {str(one[0]): made for one, made in zip(requests, generated, strict=True)}\n    "
            "return [found[str(one[0])] for one in requests]"
        },
    ),
    Mistake(
        "one_list_for_all",
        "all requests share one list of generated tokens; make a list for each",
        {"[[] for _ in requests]": "[[]] * len(requests)", COUNT: COUNT.replace("==", ">=")},
    ),
    Mistake(
        "texts_not_copied",
        "the lists that step got grow, or are changed by it; give it copies",
        OWN_LISTS,
        WHOLE_TEXTS,
        {TEXTS: "texts = [requests[i][0] + generated[i] if generated[i] else requests[i][0] for i in running]"},
    ),
    Mistake(
        "prompts_changed",
        "new tokens are appended to the caller's prompts; copy them",
        {**OWN_LISTS, RUNNING: f"{RUNNING}\n    texts_of = [prompt for prompt, _, _ in requests]"},
        {
            **OWN_LISTS,
            RUNNING: f"{RUNNING}\n    texts_of = [prompt for prompt, _, _ in requests]",
            TEXTS: "texts = [[*texts_of[i]] for i in running]",
        },
        {
            **WHOLE_TEXTS,
            RUNNING: WHOLE_TEXTS[RUNNING].replace("[*prompt]", "prompt"),
            TEXTS: "texts = [[*texts_of[i]] for i in running]",
            RESULT: "return [texts_of[i][begin[i] :] for i in range(len(requests))]",
        },
    ),
    Mistake(
        "last_token_alone",
        "step is given only the last token; give it the whole text",
        {TEXTS: TEXTS.replace("requests[i][0] + generated[i]", "(requests[i][0] + generated[i])[-1:]")},
    ),
    Mistake(
        "without_the_prompt",
        "step is given only what was generated; the prompt comes first",
        {TEXTS: TEXTS.replace("requests[i][0] + generated[i]", "[*generated[i]]")},
        {TEXTS: TEXTS.replace("requests[i][0] + generated[i]", "[*(generated[i] or requests[i][0])]")},
    ),
    Mistake(
        "prompt_last",
        "what was generated stands before the prompt; it comes after the prompt",
        {TEXTS: TEXTS.replace("requests[i][0] + generated[i]", "generated[i] + requests[i][0]")},
    ),
    Mistake(
        "error_replaced",
        "what step raises is caught, and ends the loop or becomes another error; let it through",
        caught("StopIteration", "break"),
        caught("Exception", "break"),
        caught("Exception", 'raise RuntimeError("step failed") from error'),
        # Spelled so that it also raises where all refusals are taken out.
        caught("ValueError", '(_ for _ in ()).throw(RuntimeError("step failed"))'),
    ),
    Mistake(
        "called_again_after_an_error",
        "step is called again after it has raised; let the error through at once",
        caught("Exception", "tokens = step(texts)"),
    ),
    Mistake(
        "checked_on_entry",
        "a request is checked when it enters a slot, after step was called for others, or never; check all of them "
        "before the first call",
        {REFUSALS: "", ENTER: ON_ENTRY},
        {REFUSALS: "", ENTER: ON_ENTRY, " if max_tokens > 0]": " if max_tokens]"},
    ),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
LINE = "for i, token in zip(running, step(texts), strict=True): -> for i, token in "
EQUIVALENT = dict.fromkeys(
    (f"{LINE}zip(running, step(texts)):", f"{LINE}zip(running, step(texts), strict=False):"),
    "step gives a token for each text",
)
SMALL = "a few small numbers, drawn for each request or each list of requests"
# What every seed asks alike -> why.
FIXED = {"capacity": SMALL, "tokens": SMALL}
