"""Known wrong answers to bpe_tokenizer."""

from graders.kata import Mistake

SPLIT = "CHUNK.findall(text)"
COUNTS = f"counts = Counter({SPLIT})"
CHUNKS = f"chunks = {SPLIT}"
BYTES = "{chunk: list(chunk.encode()) for chunk in counts}"
OF_CHUNK = "list(chunk.encode()) for chunk in chunks}"
CHARACTERS = {
    BYTES: "{chunk: [*map(ord, chunk)] for chunk in counts}",
    OF_CHUNK: "[*map(ord, chunk)] for chunk in chunks}",
}
LATIN_1 = {one: one.replace("()", '("latin-1", "replace")') for one in (BYTES, OF_CHUNK)}
ANEW = "self.merges, self.vocab = [], {byte: bytes([byte]) for byte in range(256)}"
NONE_LEFT = "if not pairs:"
KEY = "key=lambda pair: (pairs[pair], self.vocab[pair[0]], self.vocab[pair[1]])"
LOOP = "while learnt := [ranks[pair] for pair in pairwise(ids) if pair in ranks]:"
NEW_IDS = "for new in range(256, vocab_size):"
STEP = "chunks = {chunk: merge(ids, best, new) for chunk, ids in chunks.items()}"
COUNTED = "pairs[pair] += counts[chunk]"
EACH_CHUNK = "for chunk, ids in chunks.items():\n                for pair"
DECODED = 'b"".join(self.vocab[i] for i in ids).decode(errors="replace")'
FORWARD = """for one in ids:
        if merged and (merged[-1], one) == pair:
            merged[-1] = new
        else:
            merged.append(one)
"""
ALL_OVERLAPS = FORWARD.replace(
    "        else",
    "        elif merged and one == pair[0] == pair[1] and merged[-1] == new:\n            pass\n        else",
)
EACH_OVERLAP = ALL_OVERLAPS.replace("pass", "merged.append(new)")
BACKWARD = """for one in ids[::-1]:
        if merged and (one, merged[-1]) == pair:
            merged[-1] = new
        else:
            merged.append(one)
    merged.reverse()
"""
ONE_PLACE = """place = next(i for i, pair in enumerate(pairwise(ids)) if pair == self.merges[first])
                ids[place : place + 2] = [256 + first]"""
NFC = "__import__('unicodedata').normalize('NFC', text)"
EACH_MERGE = "for rank, pair in enumerate(self.merges):\n                ids = merge(ids, pair, 256 + rank)"
PATTERN = r're.compile(r" ?\S+|\s+")'
GPT_2 = r"""re.compile(r"'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")"""
AT_BLANKS = "[' ' * (i > 0) + piece for i, piece in enumerate(text.split(' '))]"
NOT_ANEW = {
    "pairs = Counter[Pair]()": "pairs = Counter[Pair]() if new == 256 else pairs",
    EACH_CHUNK: EACH_CHUNK.replace("items():", "items() if new == 256 else ():"),
}
GAINED = """
            del pairs[best]
            for chunk, ids in chunks.items():
                for pair in pairwise(ids):
                    if new in pair:
                        pairs[pair] += counts[chunk]"""
LOST = """for chunk, ids in chunks.items():
                for left, middle, right in zip(ids, ids[1:], ids[2:]):
                    if %s == best:
                        pairs[%s] -= counts[chunk]
            """
IDS_ALREADY = "bytes are a sequence of whole numbers, as a list of ids is"

MISTAKES = (
    Mistake(
        "characters_for_bytes",
        "the text becomes characters or Latin-1 bytes; use UTF-8 bytes in train, encode and decode",
        CHARACTERS,
        CHARACTERS | {DECODED: "''.join(self.vocab[i].decode('latin-1') for i in ids)"},
        LATIN_1,
        LATIN_1 | {DECODED: DECODED.replace("(errors", '("latin-1", errors')},
    ),
    Mistake(
        "pairs_across_chunks",
        "pairs are counted or merged across chunks; split the text first, and look only at pairs inside a chunk",
        {COUNTS: "counts = Counter([text])", CHUNKS: "chunks = [text]"},
        {COUNTS: "counts = Counter([text])"},
        {CHUNKS: "chunks = [text]"},
    ),
    Mistake(
        "split_at_blanks",
        "the text is split at white space, which is lost; split it by the pattern: its chunks, joined, give the text",
        {COUNTS: "counts = Counter(text.split())", CHUNKS: "chunks = text.split()"},
        {COUNTS: "counts = Counter(text.split())"},
        {COUNTS: "counts = Counter(text.split(' '))", CHUNKS: "chunks = text.split(' ')"},
    ),
    Mistake(
        "another_pattern",
        'the text is split by another pattern; split it by r" ?\\S+|\\s+", in training and in encode',
        {PATTERN: [GPT_2, r're.compile(r"\s?\S+|\s+")', r're.compile(r"\S+|\s+")', r're.compile(r"\w+|\W+")']},
        {COUNTS: COUNTS.replace(SPLIT, AT_BLANKS), CHUNKS: CHUNKS.replace(SPLIT, AT_BLANKS)},
    ),
    Mistake(
        "text_changed_first",
        "the text is stripped, lower-cased or normalised first, so it cannot come back; take it as it is",
        {COUNTS: COUNTS.replace("text", "text.strip()"), CHUNKS: CHUNKS.replace("text", "text.strip()")},
        {COUNTS: COUNTS.replace("text", "text.lower()"), CHUNKS: CHUNKS.replace("text", "text.lower()")},
        {COUNTS: COUNTS.replace("text", NFC), CHUNKS: CHUNKS.replace("text", NFC)},
    ),
    Mistake(
        "ties_by_first_seen",
        "of equally frequent pairs the first or last seen is taken; compare left bytes, then right bytes, and take the "
        "larger",
        {KEY: ["key=lambda pair: pairs[pair]", "key=lambda pair: (pairs[pair], list(pairs).index(pair))"]},
    ),
    Mistake(
        "ties_by_ids",
        "equally frequent pairs are compared by ids; compare left bytes, then right bytes, and take the larger",
        {KEY: ["key=lambda pair: (pairs[pair], pair)", "key=lambda pair: (pairs[pair], -pair[0], -pair[1])"]},
    ),
    Mistake(
        "ties_to_the_smaller",
        "of equally frequent pairs the one with the smaller bytes is taken; take the larger",
        {f"max(pairs, {KEY}": f"min(pairs, {KEY.replace('(pairs', '(-pairs')}"},
    ),
    Mistake(
        "ties_by_joined_bytes",
        "equally frequent pairs are compared by their joined bytes; compare left with left, then right with right",
        {KEY: "key=lambda pair: (pairs[pair], self.vocab[pair[0]] + self.vocab[pair[1]])"},
    ),
    Mistake(
        "overlaps_counted_once",
        "overlapping pairs are counted once, as by text.count; every adjacent position counts: aaa has (a, a) twice",
        {
            f"for pair in pairwise(ids):\n                    {COUNTED}": (
                "before = None\n"
                "                for i, pair in enumerate(pairwise(ids)):\n"
                "                    if before != (i - 1, pair):\n"
                "                        pairs[pair] += counts[chunk]\n"
                "                        before = (i, pair)"
            )
        },
    ),
    Mistake(
        "merged_from_the_right",
        "pairs are merged from right to left; go from left to right, so that aaa becomes (aa, a)",
        {FORWARD: BACKWARD},
    ),
    Mistake(
        "overlaps_all_merged",
        "overlapping pairs are all merged, so that aaa becomes one id, or two equal ones; merge from left to right, "
        "each token once: aaa becomes (aa, a)",
        {FORWARD: [ALL_OVERLAPS, EACH_OVERLAP]},
    ),
    Mistake(
        "chunks_counted_once",
        "equal chunks count only once, or a pair counts only in the last chunk that has it; add up a pair's "
        "occurrences over all chunks",
        {COUNTED: ["pairs[pair] += 1", "pairs[pair] = counts[chunk]"]},
    ),
    Mistake(
        "counted_once_for_all",
        "the pairs are counted once and then taken in turn; count them again after every merge, which changes them",
        {
            "pairs = Counter[Pair]()": "pairs = Counter[Pair]() if new == 256 else pairs",
            EACH_CHUNK: EACH_CHUNK.replace("items():", "items() if new == 256 else ():"),
            "self.merges.append(best)": "self.merges.append(best)\n            del pairs[best]",
        },
    ),
    Mistake(
        "lost_pairs_counted",
        "counts are kept from merge to merge, but a merged pair's left or right neighbours keep their old counts; take "
        "off the pairs that a merge breaks",
        NOT_ANEW | {STEP: STEP + GAINED},
        NOT_ANEW | {STEP: LOST % ("(middle, right)", "left, middle") + STEP + GAINED},
        NOT_ANEW | {STEP: LOST % ("(left, middle)", "middle, right") + STEP + GAINED},
    ),
    Mistake(
        "only_pairs_seen_twice",
        "training stops when no pair occurs twice; it should stop when no pair is left",
        {NONE_LEFT: "if not pairs or max(pairs.values()) < 2:"},
    ),
    Mistake(
        "no_pair_is_an_error",
        "training fails if no pair is left or the text is empty; stop early instead",
        {f"{NONE_LEFT}\n                break": "pass"},
    ),
    Mistake(
        "vocab_size_merges",
        "the number of merges is vocab_size, or is off by one; it should be vocab_size − 256",
        {NEW_IDS: "for new in range(256, 256 + vocab_size):"},
        {NEW_IDS: ["for new in range(256, vocab_size + 1):", "for new in range(256, vocab_size - 1):"]},
    ),
    Mistake(
        "ids_off_by_one",
        "the first merge gets the id 257; the bytes are 0 to 255, so it should be 256",
        {
            NEW_IDS: "for new in range(257, vocab_size + 1):",
            "256 + first": "257 + first",
        },
    ),
    Mistake(
        "bytes_swapped",
        "the bytes of a pair are joined in the wrong order; the left ones come first",
        {"self.vocab[new] = …": "self.vocab[new] = self.vocab[best[1]] + self.vocab[best[0]]"},
    ),
    Mistake(
        "vocab_of_texts",
        "vocab holds texts; it should hold bytes, since a character's bytes may be in several ids",
        {
            STEP: f"{STEP}\n        self.own = self.vocab\n"
            '        self.vocab = {i: piece.decode(errors="replace") for i, piece in self.own.items()}',
            DECODED: DECODED.replace("self.vocab", "getattr(self, 'own', self.vocab)"),
        },
    ),
    Mistake(
        "vocab_not_built",
        "vocab has only the 256 bytes; every merge should add an entry, the joined bytes of its pair",
        {
            STEP: f"{STEP}\n        self.own = self.vocab\n        self.vocab = dict([*self.own.items()][:256])",
            DECODED: DECODED.replace("self.vocab", "getattr(self, 'own', self.vocab)"),
        },
    ),
    Mistake(
        "order_of_appearance",
        "encode merges the learnt pair that comes first in the chunk; merge the pair that was learnt first",
        {"min(learnt)": "learnt[0]"},
        {"ids = merge(ids, self.merges[first], 256 + first)": ONE_PLACE, "min(learnt)": "learnt[0]"},
    ),
    Mistake(
        "longest_match",
        "encode takes the longest entry of vocab that fits; apply the merges in the order in which they were learnt",
        {
            LOOP: (
                "data, own, ids = chunk.encode(), {piece: i for i, piece in self.vocab.items()}, []\n"
                "            while data:\n"
                "                size = max(n for n in range(1, len(data) + 1) if data[:n] in own)\n"
                "                ids.append(own[data[:size]])\n"
                "                data = data[size:]\n"
                "            while learnt := []:"
            )
        },
    ),
    Mistake(
        "latest_merge_first",
        "encode applies the merge that was learnt last; apply the one that was learnt first",
        {"min(learnt)": "max(learnt)"},
    ),
    Mistake(
        "one_merge_a_chunk",
        "encode merges one kind of pair in each chunk and stops; go on until no learnt pair is left",
        {LOOP: f"if {LOOP[6:]}"},
    ),
    Mistake(
        "long_chunks_left",
        "encode leaves chunks of more than 100 or 200 bytes as they are, as WordPiece gives up on long words; merge "
        "chunks of every length",
        *({LOOP: f"while len(chunk.encode()) <= {most} and ({LOOP[6:-1]}):"} for most in (100, 200)),
    ),
    Mistake(
        "decoded_one_by_one",
        "each id is decoded by itself, and a character whose bytes are in several ids is lost; join the bytes first",
        {DECODED: '"".join(self.vocab[i].decode(errors="replace") for i in ids)'},
    ),
    Mistake(
        "broken_characters_raise",
        "decode raises if bytes are no UTF-8, but a model may write such bytes; pass errors='replace'",
        {'.decode(errors="replace")': ".decode()"},
    ),
    Mistake(
        "broken_characters_dropped",
        "decode leaves out bytes that are no UTF-8; they should show as U+FFFD: pass errors='replace'",
        {'.decode(errors="replace")': '.decode(errors="ignore")'},
    ),
    Mistake(
        "cache_kept",
        "encode keeps a cache, which a second training does not clear; clear it in train",
        {
            f"encoded = {{chunk: {OF_CHUNK}  # each of them once\n        for chunk, ids in encoded.items():": (
                'encoded = self.__dict__.setdefault("encoded", {})\n'
                "        for chunk, ids in [(one, list(one.encode())) for one in chunks if one not in encoded]:"
            )
        },
    ),
    Mistake(
        "goes_on_training",
        "a second training keeps merges or vocab of the first one; start anew with both",
        {ANEW: "pass", NEW_IDS: "for new in range(len(self.vocab), vocab_size):"},
        {ANEW: ["pass", "self.vocab = {byte: bytes([byte]) for byte in range(256)}", "self.merges = []"]},
    ),
    Mistake(
        "shared_by_all",
        "all tokenizers share one list of merges, or one vocab; make both in __init__, for each tokenizer",
        {
            "self.merges: list[Pair] = []": "self.merges = KEPT_MERGES",
            "CHUNK =": "KEPT_MERGES = []\nCHUNK =",
            ANEW: "self.vocab = {byte: bytes([byte]) for byte in range(256)}\n        self.merges.clear()",
        },
    ),
    Mistake(
        "every_chunk_counted",
        "training counts the pairs of each chunk of the text anew, though most chunks repeat; count each different "
        "chunk once, and multiply",
        {
            COUNTS: f"counts = dict.fromkeys(enumerate({SPLIT}), 1)",
            BYTES: "{chunk: list(chunk[1].encode()) for chunk in counts}",
        },
        slow=True,
    ),
    Mistake(
        "every_merge_tried",
        "encode tries every merge in each chunk; look up which of the chunk's own pairs was learnt first",
        {
            "return [i …": "found = []\n        for chunk in chunks:\n            ids = list(chunk.encode())\n"
            f"            {EACH_MERGE}\n            found += ids\n        return found"
        },
        slow=True,
    ),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT = {
    f"chunks = {BYTES} -> chunks = {BYTES.replace('list(chunk.encode())', 'chunk.encode()')}": IDS_ALREADY,
    f"encoded = {{chunk: {OF_CHUNK} -> encoded = {{chunk: chunk.encode(){OF_CHUNK[20:]}": IDS_ALREADY,
}
