"""Known wrong answers to resumable_loader."""

from graders.kata import Mistake

ORDER = 'random.Random(f"{self.seed} {self.epoch}").shuffle(order)'
BEGIN = "        if not self.loaded:\n            self.handed_out = 0\n        self.loaded = False\n"
LEN = "return self._divided(share, self.batch_size)"
DIVIDED = "return n // parts if self.drop_last else -(-n // parts)"
PLACES = "places = [self.rank + k * self.world_size for k in range(share)]"
INDICES = "indices = [order[place % self.length] for place in places]"
LOOP = """        while self.handed_out < len(self):
            start = self.handed_out * self.batch_size
            self.handed_out += 1
            yield indices[start : start + self.batch_size]
"""
SHARE = """        share = self._divided(self.length, self.world_size)
        places ="""
EACH = "yield indices[start : start + self.batch_size]"
COUNTED = "self.handed_out += 1\n"
TORCH = {"import random\n": "import random\n\nimport torch\n"}
SHARE_OF_LEN = "        share = self._divided(self.length, self.world_size)\n        return"
CUT, PADDED = "share = self.length // self.world_size\n", "share = -(-self.length // self.world_size)\n"
OWN = "share = (self.length - (0 if self.drop_last else self.rank + 1 - self.world_size)) // self.world_size\n"
KNOWN = "(self.length, self.seed, self.batch_size, self.world_size)"
SET = "if epoch != self.epoch:"
RESET = "self.epoch, self.handed_out, self.loaded = epoch, 0, False"
PLACE = 'place = {"epoch": self.epoch, "handed_out": self.handed_out}'
LOAD = 'self.epoch, self.handed_out, self.loaded = state["epoch"], state["handed_out"], True'
START = "self.epoch = self.handed_out = 0"
COMPARED = 'for name in ("length", "seed", "batch_size", "world_size"):\n            if'
STATE = "return {name: getattr(self, name) for name in"


def order(how: str) -> dict[str, str]:
    return {ORDER: how}


MISTAKES = (
    Mistake(
        "not_seeded",
        "the order is another one each time, so ranks disagree, and a resumed epoch is reshuffled; seed a generator of "
        "your own with seed and epoch",
        order("random.shuffle(order)"),
        order("random.Random().shuffle(order)"),
    ),
    Mistake(
        "global_generator",
        "the global generator is seeded and used, which changes what others draw; make a generator of your own",
        order('random.seed(f"{self.seed} {self.epoch}")\n            random.shuffle(order)'),
        {
            **TORCH,
            ORDER: "torch.manual_seed(self.seed * 1000 + self.epoch)\n"
            "            order = torch.randperm(self.length).tolist()",
        },
    ),
    Mistake(
        "generator_goes_on",
        "one generator shuffles all epochs, so an order depends on how many came before; seed it for each epoch",
        {
            START: f"self.generator = random.Random(seed)\n        {START}",
            ORDER: "self.generator.shuffle(order)",
        },
        {
            START: f"self.order, self.generator = [*range(length)], random.Random(seed)\n        {START}",
            ORDER: "self.generator.shuffle(self.order)\n            order = [*self.order]",
        },
    ),
    Mistake(
        "epoch_ignored",
        "every epoch has the same order; the seed of the order should also depend on the epoch",
        order("random.Random(self.seed).shuffle(order)"),
        {
            START: f"self.order = [*range(length)]\n        random.Random(seed).shuffle(self.order)\n        {START}",
            ORDER: "order = self.order",
        },
    ),
    Mistake(
        "seed_ignored",
        "every seed gives the same order",
        order("random.Random(self.epoch).shuffle(order)"),
    ),
    Mistake(
        "seed_times_epoch",
        "seed and epoch are multiplied, so epoch 0 is the same for every seed, and seed 0 the same in every epoch; "
        "combine them so that any two pairs differ",
        order("random.Random(self.seed * self.epoch).shuffle(order)"),
    ),
    Mistake(
        "rank_in_the_seed",
        "each rank has its own order, so some samples come twice and others never; the order should be the same on "
        "all ranks",
        order('random.Random(f"{self.seed} {self.epoch} {self.rank}").shuffle(order)'),
        order("random.Random(self.seed + 1000 * self.epoch + self.rank).shuffle(order)"),
    ),
    Mistake(
        "share_shuffled",
        "each rank always has the same samples, and only their order changes; shuffle first, then share",
        {
            ORDER: "pass",
            f"{INDICES}": f"{INDICES}\n        if self.shuffle:\n"
            '            random.Random(f"{self.seed} {self.epoch}").shuffle(indices)',
        },
        {
            ORDER: "pass",
            f"{INDICES}": f"{INDICES}\n        if self.shuffle:\n"
            '            random.Random(f"{self.seed} {self.epoch} {self.rank}").shuffle(indices)',
        },
    ),
    Mistake(
        "batches_shuffled",
        "only the order of the batches changes, and each batch has neighbours; shuffle the samples",
        {
            ORDER: "pass",
            LOOP: """        numbers = list(range(len(self)))
        if self.shuffle:
            random.Random(f"{self.seed} {self.epoch}").shuffle(numbers)
        while self.handed_out < len(self):
            start = numbers[self.handed_out] * self.batch_size
            self.handed_out += 1
            yield indices[start : start + self.batch_size]
""",
        },
    ),
    Mistake(
        "rotated",
        "the order is only rotated or reversed, so neighbours stay neighbours; shuffle",
        order("order = order[self.epoch % max(len(order), 1) :] + order[: self.epoch % max(len(order), 1)]"),
        order(
            "turn = random.Random(f'{self.seed} {self.epoch}').randrange(max(len(order), 1))\n"
            "            order = order[turn:] + order[:turn]"
        ),
    ),
    Mistake(
        "not_shuffled",
        "shuffle changes nothing; give each epoch an order of its own",
        order("pass"),
    ),
    Mistake(
        "always_shuffled",
        "the order is shuffled even with shuffle=False",
        {"        if self.shuffle:\n            random": "        if True:\n            random"},
    ),
    Mistake(
        "hash_of_a_text",
        "the seed is the hash of a text, which differs from process to process; ranks and restarts would disagree",
        order('random.Random(hash(f"{self.seed} {self.epoch}")).shuffle(order)'),
        order('random.Random(hash(("order", self.seed, self.epoch))).shuffle(order)'),
    ),
    Mistake(
        "next_batch_repeated",
        "a batch is counted only when the next one is asked for, so the last one comes again after loading; count it "
        "before you hand it out",
        {f"{COUNTED}            {EACH}": f"{EACH}\n            {COUNTED.rstrip()}"},
    ),
    Mistake(
        "prepared_batch_lost",
        "a batch that is prepared in advance is counted, though it was not handed out; it is lost after loading",
        {
            LOOP: """        ready = None
        while self.handed_out < len(self):
            start = self.handed_out * self.batch_size
            self.handed_out += 1
            if ready is not None:
                yield ready
            ready = indices[start : start + self.batch_size]
        if ready is not None:
            yield ready
"""
        },
    ),
    Mistake(
        "samples_for_batches",
        "the state counts samples where loading counts batches, or a full batch for the last one",
        {PLACE: PLACE.replace("self.handed_out}", "self.handed_out * self.batch_size}")},
    ),
    Mistake(
        "goes_on_where_it_ended",
        "an iteration goes on where the one before it ended; only the first one after loading should, all others begin "
        "at the start",
        {BEGIN: ""},
        {
            BEGIN: "        if not self.loaded and self.handed_out == len(self):\n            self.handed_out = 0\n"
            "        self.loaded = False\n"
        },
    ),
    Mistake(
        "count_goes_on",
        "in a further iteration the count goes on from the one before, so a state saved there has too many batches; "
        "each iteration counts from where it begins",
        {
            BEGIN: "        first = self.handed_out if self.loaded else 0\n        self.loaded = False\n",
            LOOP: """        for number in range(first, len(self)):
            self.handed_out += 1
            yield indices[number * self.batch_size : (number + 1) * self.batch_size]
""",
        },
    ),
    Mistake(
        "set_epoch_resets_the_count",
        "after set_epoch of the current epoch the iteration goes on, but the state says that it begins; saved then, it "
        "loses the place",
        {
            START: f"self.first = 0\n        {START}",
            BEGIN: "        self.handed_out, self.first = self.first, 0\n",
            f"        {SET}\n            {RESET}": f"        self.handed_out = 0\n        {SET}\n"
            "            self.epoch, self.first = epoch, 0",
            LOAD: f"{LOAD}\n        self.first = self.handed_out",
        },
    ),
    Mistake(
        "place_kept_for_ever",
        "each iteration after loading goes on from the loaded place; only the first one should",
        {
            BEGIN: "        self.handed_out = self.first if self.loaded else 0\n",
            START: f"self.first = 0\n        {START}",
            LOAD: f'{LOAD}\n        self.first = state["handed_out"]',
        },
    ),
    Mistake(
        "starts_anew_after_loading",
        "the first iteration after loading begins at the epoch's start; save and load how many batches were handed out",
        {LOAD: 'self.epoch, self.handed_out, self.loaded = state["epoch"], state["handed_out"], False'},
        {
            PLACE: 'place = {"epoch": self.epoch}',
            LOAD: 'self.epoch, self.handed_out, self.loaded = state["epoch"], 0, True',
        },
    ),
    Mistake(
        "set_epoch_drops_the_place",
        "set_epoch of the current epoch drops a loaded place; training loops call it after loading, so keep the place",
        {f"        {SET}\n            {RESET}": f"        {RESET}"},
    ),
    Mistake(
        "set_epoch_keeps_the_place",
        "set_epoch of another epoch keeps the loaded place; it should begin that epoch",
        {RESET: "self.epoch = epoch"},
        {f"        {SET}\n            {RESET}": "        self.epoch = epoch"},
    ),
    Mistake(
        "place_of_the_epoch_before",
        "after set_epoch the state still has the place in the epoch before; another epoch begins with 0 batches",
        {RESET: "self.epoch, self.loaded = epoch, False"},
    ),
    Mistake(
        "epoch_not_saved",
        "the state lacks the epoch, so after loading the batches are another epoch's",
        {
            PLACE: 'place = {"handed_out": self.handed_out}',
            LOAD: 'self.handed_out, self.loaded = state["handed_out"], True',
        },
        {LOAD: 'self.handed_out, self.loaded = state["handed_out"], True'},
    ),
    Mistake(
        "end_taken_for_a_start",
        "a state that was saved after the last batch begins an epoch once loaded; the next iteration should give no "
        "batch",
        {LOAD: f"{LOAD}\n        if self.handed_out >= len(self):\n            self.handed_out = 0"},
        {LOAD: f"{LOAD}\n        if self.handed_out >= len(self):\n            self.set_epoch(self.epoch + 1)"},
        {PLACE: 'place = {"epoch": self.epoch, "handed_out": self.handed_out % max(len(self), 1)}'},
    ),
    Mistake(
        "shares_in_a_row",
        "each rank gets neighbouring places of the order; rank r should get r, r + W, r + 2W, …",
        {PLACES: "places = [self.rank * share + k for k in range(share)]"},
    ),
    Mistake(
        "batches_dealt_out",
        "the order is cut into batches, which go to the ranks in turn; deal out single places, then cut batches",
        {
            PLACES: "size = self.batch_size\n"
            "        places = [(k // size * self.world_size + self.rank) * size + k % size for k in range(share)]"
        },
    ),
    Mistake(
        "not_padded",
        "shares differ by one sample, and so may the ranks' numbers of batches, where training hangs; pad the order",
        {SHARE: f"        {OWN}        places =", SHARE_OF_LEN: f"        {OWN}        return"},
        {INDICES: "indices = [order[place] for place in places if place < self.length]"},
    ),
    Mistake(
        "padded_once",
        "the order's start is appended only once, which is too little if there are far more ranks than samples",
        {INDICES: "order += order\n        indices = [order[place] for place in places if place < 2 * self.length]"},
        {
            INDICES: "order += order\n        indices = [order[place] for place in places if place < 2 * self.length]",
            "while self.handed_out < len(self)": "while self.handed_out * self.batch_size < len(indices) and "
            "self.handed_out < len(self)",
        },
        {INDICES: "order += order\n        indices = [order[place] for place in places]"},
    ),
    Mistake(
        "padded_with_the_wrong_samples",
        "the order is padded with its end, or with each rank's own samples; pad it from its start",
        {INDICES: "indices = [order[min(place, self.length - 1)] for place in places]"},
        {INDICES: "indices = [order[place] if place < self.length else order[self.rank] for place in places]"},
        {INDICES: "order += order[::-1] * self.world_size\n        indices = [order[place] for place in places]"},
        {INDICES: "indices = [order[place] if place < self.length else 0 for place in places]"},
    ),
    Mistake(
        "shares_always_cut",
        "the order is cut to equal shares even without drop_last, and samples are lost; pad it",
        {SHARE: f"        {CUT}        places =", SHARE_OF_LEN: f"        {CUT}        return"},
    ),
    Mistake(
        "shares_never_cut",
        "drop_last leaves out batches that are not full, but the order is padded; it should also cut the order",
        {SHARE: f"        {PADDED}        places =", SHARE_OF_LEN: f"        {PADDED}        return"},
    ),
    Mistake(
        "last_batch_always_kept",
        "drop_last cuts the order, but a last batch that is not full is kept; leave it out",
        {LEN: "return -(-share // self.batch_size)"},
    ),
    Mistake(
        "last_batch_always_dropped",
        "a last batch that is not full is left out even without drop_last; keep it",
        {LEN: "return share // self.batch_size"},
    ),
    Mistake(
        "batches_counted_without_shares",
        "the batches of all samples are counted; count this rank's",
        {SHARE_OF_LEN: "        share = self.length\n        return"},
    ),
    Mistake(
        "last_batch_filled_up",
        "the last batch is filled up with samples from the start; it may have fewer",
        {
            "yield indices[start : start + self.batch_size]": "size = self.batch_size\n"
            "            yield (indices[start : start + size] + indices * size)[:size]"
        },
    ),
    Mistake(
        "no_samples_forgotten",
        "a length of 0 raises; there are no batches then",
        {"order = list(range(self.length))": "order = list(range(self.length))\n        order[0]"},
        {DIVIDED: "return n // parts if self.drop_last else (n - 1) // parts + 1 if n else 1"},
    ),
    Mistake(
        "order_in_the_state",
        "the state has the whole order, and grows with the samples; the order follows from length, seed and epoch",
        {PLACE: 'place = {"epoch": self.epoch, "handed_out": self.handed_out, "order": [*range(self.length)]}'},
        {
            PLACE: 'place = {"epoch": self.epoch, "handed_out": self.handed_out, "seen": '
            "[*range(self.handed_out * self.batch_size)]}"
        },
    ),
    Mistake(
        "no_plain_state",
        "json cannot write the state, which has a tensor, a set or a generator's state in it; keep plain numbers",
        {
            **TORCH,
            PLACE: 'place = {"epoch": self.epoch, "handed_out": torch.tensor(self.handed_out)}',
            LOAD: 'self.epoch, self.handed_out, self.loaded = state["epoch"], int(state["handed_out"]), True',
        },
        {
            PLACE: 'place = {"epoch": self.epoch, "handed_out": {self.handed_out}}',
            LOAD: 'self.epoch, (self.handed_out,), self.loaded = state["epoch"], state["handed_out"], True',
        },
    ),
    Mistake(
        "tuple_in_the_state",
        "the state has a tuple, which is a list once json has read it, and is compared with a tuple; compare lists",
        {
            STATE: f'place["known"] = {KNOWN}\n        {STATE}',
            LOAD: f'if state["known"] != {KNOWN}:\n            raise ValueError("known should fit")\n        {LOAD}',
        },
    ),
    Mistake(
        "rank_in_the_state",
        "the state has the rank, so ranks save different states, or cannot load another's; leave it out",
        {PLACE: 'place = {"epoch": self.epoch, "handed_out": self.handed_out, "rank": self.rank}'},
        {
            PLACE: 'place = {"epoch": self.epoch, "handed_out": self.handed_out, "rank": self.rank}',
            COMPARED: COMPARED.replace('"seed"', '"rank", "seed"'),
        },
        {
            PLACE: 'place = {"epoch": self.epoch, "handed_out": self.handed_out, "rank": self.rank}',
            LOAD: f'{LOAD}\n        self.rank = state["rank"]',
        },
    ),
    Mistake(
        "state_not_a_snapshot",
        "the state changes while the iteration goes on; return a new dict",
        {
            START: f"self.state: dict[str, Any] = {{}}\n        {START}",
            STATE: "self.state |= {name: getattr(self, name) for name in",
            "| place": "| place\n        return self.state",
            COUNTED: f'{COUNTED}            self.state["handed_out"] = self.handed_out\n',
        },
    ),
    Mistake(
        "other_states_accepted",
        "a state of another length, seed, batch size or world size is loaded; compare all four",
        {COMPARED: COMPARED.replace('"length", ', "")},
        {COMPARED: COMPARED.replace('"seed", ', "")},
        {COMPARED: COMPARED.replace('"batch_size", ', "")},
        {COMPARED: COMPARED.replace(', "world_size"', "")},
    ),
    Mistake(
        "arguments_from_the_state",
        "loading takes length, seed, batch size or world size over from the state; refuse a state of others",
        {
            f"{COMPARED} state[name] != getattr(self, name):": "for name in ():\n            if True:",
            LOAD: f"{LOAD}\n"
            '        self.length, self.seed = state["length"], state["seed"]\n'
            '        self.batch_size, self.world_size = state["batch_size"], state["world_size"]',
        },
    ),
    Mistake(
        "len_of_what_is_left",
        "after loading, len says how many batches are left; it should count a whole epoch's",
        {LEN: f"{LEN} - (self.handed_out if self.loaded else 0)"},
    ),
    Mistake(
        "tensors_handed_out",
        "batches are tensors or tuples; hand out lists of Python's ints",
        {
            **TORCH,
            EACH: EACH.replace("indices", "torch.tensor(indices") + ")",
        },
        {EACH: EACH.replace("indices", "tuple(indices") + ")"},
    ),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
AT_THE_START = "handed_out is 0 there, so it goes on from the start"
EQUIVALENT = {
    "self.loaded = False -> self.loaded = True": AT_THE_START,
    "self.epoch, self.handed_out, self.loaded = (epoch, 0, False) -> "
    "self.epoch, self.handed_out, self.loaded = (epoch, 0, True)": AT_THE_START,
}
# What every seed asks alike -> why.
FIXED = {"rank": "the only one of one rank, or the second of two; the other scenarios take all ranks"}
