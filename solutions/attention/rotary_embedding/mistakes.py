"""Known wrong answers to rotary_embedding."""

from graders.kata import Mistake

DEFAULT = "positions = torch.arange(x.shape[-2], device=x.device)"
EXPONENT = "-torch.arange(0, d, 2, dtype=torch.float64, device=x.device) / d"
ANGLES = "angles = positions[..., None] * theta"
COS = "cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)"
HALVES, NEIGHBOURS = "x.chunk(2, dim=-1)", "(x[..., 0::2], x[..., 1::2])"
PAIRS = f"{NEIGHBOURS} if interleaved else {HALVES}"
ROTATED = "rotated = a * cos - b * sin, a * sin + b * cos"
OTHER_WAY = "rotated = a * cos + b * sin, b * cos - a * sin"
BESIDE, WOVEN = "torch.cat(rotated, -1)", "torch.stack(rotated, -1).flatten(-2)"
BACK = f"return {WOVEN} if interleaved else {BESIDE}"
FITS = "positions.dim() > len(tokens) or any(size not in (1, wanted) for size, wanted in fits)"
HALF_BACK = "return torch.cat((turned[..., : d // 2], x[..., d // 2 :]), -1)"
FIRST_OVERWRITTEN = "a.copy_(a * cos - b * sin)\n    b.copy_(a * sin + b * cos)\n    rotated = a, b"

BY_PAIR = """rotated = tuple(
        torch.stack([p[..., i] * one[..., i] + q[..., i] * two[..., i] for i in range(d // 2)], -1)
        for p, one, q, two in ((a, cos, b, -sin), (a, sin, b, cos))
    )"""
FROM_LOWEST = """low = positions.min()
    table = torch.arange(int(low), int(positions.max()) + 1, device=x.device)[:, None] * theta
    angles = table[(positions - low).long()]"""
MATRICES = {  # a rotated identity is the matrix of the rotation
    COS: COS.replace("x.dtype)", "x.dtype).unsqueeze(-2)"),
    PAIRS: PAIRS.replace("x[", "one[").replace("x.", "one."),
    "    a, b =": "    one = torch.eye(d, dtype=x.dtype, device=x.device)\n    a, b =",
    BACK: f"turns = {WOVEN} if interleaved else {BESIDE}\n    return (x.unsqueeze(-2) @ turns).squeeze(-2)",
}
MADE = COS.removeprefix("cos, sin = ")
KEPT = {
    "def rotary_embedding(": "TABLES: dict[tuple[object, ...], tuple[Tensor, ...]] = {}\n\n\ndef rotary_embedding(",
    COS: f"made = TABLES.setdefault((x.shape, base, str(positions)), ({MADE}))\n"
    "    cos, sin = (one.to(x.dtype) for one in made)",
}

MISTAKES = (
    Mistake(
        "other_layout",
        "interleaved is read the wrong way round; where it is False, the channels i and i + d/2 should be a pair",
        {PAIRS: PAIRS.replace("if", "if not"), BACK: BACK.replace("if", "if not")},
    ),
    Mistake(
        "always_halves",
        "interleaved changes nothing; where it is True, the channels 2i and 2i + 1 should be a pair",
        {PAIRS: HALVES, BACK: f"return {BESIDE}"},
    ),
    Mistake(
        "always_neighbours",
        "the channels 2i and 2i + 1 are always a pair; by default, a pair should be the channels i and i + d/2",
        {PAIRS: NEIGHBOURS, BACK: f"return {WOVEN}"},
    ),
    Mistake(
        "not_woven",
        "with interleaved=True, the rotated channels come back as two halves; weave them, so that each keeps its place",
        {BACK: f"return {BESIDE}"},
    ),
    Mistake(
        "halves_woven",
        "by default, the rotated halves are woven together; put one after the other, so that each keeps its place",
        {BACK: f"return {WOVEN}"},
    ),
    Mistake(
        "angles_of_halves",
        "with interleaved=True, channel j gets the angle of pair j mod d/2; the channels 2i and 2i + 1 should get the "
        "angle of pair i",
        {
            BACK: "turned = torch.stack((-b, a), -1).flatten(-2) if interleaved else torch.cat((-b, a), -1)\n"
            "    return x * torch.cat((cos, cos), -1) + turned * torch.cat((sin, sin), -1)"
        },
    ),
    Mistake(
        "angles_of_neighbours",
        "by default, the channels 2i and 2i + 1 get the angle of pair i; the channels i and i + d/2 should get it",
        {
            BACK: "cos, sin = cos.repeat_interleave(2, -1), sin.repeat_interleave(2, -1)\n"
            "    turned = torch.stack((-b, a), -1).flatten(-2) if interleaved else torch.cat((-b, a), -1)\n"
            "    return x * cos + turned * sin"
        },
    ),
    Mistake(
        "halved_exponent",
        "the exponent of pair i is −i/d; it should be −2i/d",
        {EXPONENT: EXPONENT.replace("0, d, 2", "d // 2")},
    ),
    Mistake(
        "doubled_exponent",
        "the exponent of pair i is −4i/d; it should be −2i/d",
        {EXPONENT: f"2 * ({EXPONENT})"},
    ),
    Mistake(
        "exponents_from_one",
        "i runs from 1 to d/2; it should run from 0 to d/2 − 1, so that the first pair has the frequency 1",
        {EXPONENT: EXPONENT.replace("0, d, 2", "2, d + 2, 2")},
    ),
    Mistake(
        "exponents_floored",
        "// rounds the exponents to whole numbers; divide by /",
        {EXPONENT: EXPONENT.replace("/ d", "// d")},
        {EXPONENT: f"-({EXPONENT.removeprefix('-').replace('/ d', '// d')})"},
        {EXPONENT: f"-({EXPONENT.removeprefix('-').replace('0, d, 2', '2, d + 2, 2').replace('/ d', '// d')})"},
    ),
    Mistake(
        "exponents_up_to_one",
        "the exponents run from 0 to −1; they should be −2i/d, so the last one is −(d − 2)/d",
        {EXPONENT: EXPONENT.replace("/ d", "/ max(d - 2, 1)")},
    ),
    Mistake(
        "positive_exponent",
        "the frequencies grow with i; the exponent should be negative",
        {EXPONENT: EXPONENT.removeprefix("-")},
    ),
    Mistake("base_ignored", {"theta = base": "theta = 1e4"}),
    Mistake("base_in_float32", {"theta = base": "theta = torch.tensor(base)"}),
    Mistake(
        "float32_exponents",
        "the frequencies or their exponents are float32, as a quotient of integers is by default; make both in float64",
        {f"({EXPONENT})": f"({EXPONENT}).float().double()"},
        {EXPONENT: EXPONENT.replace("float64", "float32"), ANGLES: ANGLES.replace("theta", "theta.double()")},
    ),
    Mistake(
        "tables_kept",
        "cos and sin are kept in the dtype of the first call, or as inference tensors, which backward refuses; make "
        "them anew in each call",
        KEPT,
        KEPT | {COS: KEPT[COS].replace("x.shape", "x.dtype, x.shape")},
    ),
    Mistake(
        "other_direction",
        "the pairs are rotated the other way; (a, b) should become (a cos φ − b sin φ, a sin φ + b cos φ)",
        {ROTATED: [OTHER_WAY, f"{ROTATED}\n    if not interleaved:\n        {OTHER_WAY}"]},
    ),
    Mistake(
        "no_minus",
        "the first channel of a pair becomes a cos φ + b sin φ, so lengths change; it should be a cos φ − b sin φ",
        {ROTATED: ROTATED.replace(" - ", " + ")},
    ),
    Mistake(
        "rotated_twice",
        "the second channel of a pair is computed from the rotated first one; use the first one as it was",
        {ROTATED: "a = a * cos - b * sin\n    rotated = a, a * sin + b * cos"},
        {ROTATED: "c = a * cos - b * sin\n    rotated = c, (a if interleaved else c) * sin + b * cos"},
        {PAIRS: PAIRS.replace("x[", "x.clone()[").replace("x.chunk", "x.clone().chunk"), ROTATED: FIRST_OVERWRITTEN},
    ),
    Mistake(
        "one_of_the_two",
        "only half of the channels are rotated; rotate both channels of every pair",
        {ROTATED: ["rotated = a * cos - b * sin, b", "rotated = a, a * sin + b * cos"]},
        {BACK: f"turned = {WOVEN} if interleaved else {BESIDE}\n    {HALF_BACK}"},
    ),
    Mistake(
        "one_table_twice",
        "the same function of φ stands for cos φ and for sin φ; (a, b) should become (a cos φ − b sin φ, a sin φ + b "
        "cos φ)",
        {COS: [f"{COS}\n    sin = cos", f"{COS}\n    cos = sin"]},
    ),
    Mistake(
        "sines_added",
        "sin φ and cos φ are added to x, as in a sinusoidal position embedding; rotate the pairs of x by φ",
        {ROTATED: ["rotated = a + sin, b + cos", "rotated = a + cos, b + sin"]},
    ),
    Mistake(
        "angles_times_two_pi",
        "φ is multiplied by 2π or taken for degrees; position · base^(−2i/d) is already in radians",
        {ANGLES: [f"{ANGLES} * 2 * torch.pi", f"{ANGLES}\n    angles = angles.deg2rad()"]},
    ),
    Mistake(
        "sin_for_cos",
        "sin and cos are swapped; position 0 should change nothing",
        {COS: COS.replace("cos, sin =", "sin, cos =")},
    ),
    Mistake(
        "rotated_in_place",
        "the rotated channels are written into x itself, which changes the caller's tensor and its gradient; make a "
        "new tensor",
        {
            BACK: f"turned = {WOVEN} if interleaved else {BESIDE}\n    with torch.no_grad():\n"
            "        x.copy_(turned)\n    return x"
        },
        {BACK: f"turned = {WOVEN} if interleaved else {BESIDE}\n    return x.copy_(turned)"},
        {ROTATED: FIRST_OVERWRITTEN},
    ),
    Mistake(
        "from_one",
        "without positions, the first token has position 1; it should have 0",
        {DEFAULT: f"{DEFAULT} + 1"},
    ),
    Mistake(
        "other_axis",
        "positions are counted along axis 1; count them along the second-to-last axis",
        {
            DEFAULT: "positions = torch.arange(x.shape[1 if x.dim() > 2 else 0], device=x.device)\n"
            "        positions = positions.view(-1, *[1] * (x.dim() - 3))"
        },
    ),
    Mistake(
        "positions_ignored",
        "positions change nothing: the tokens always have the positions 0 … S − 1; use the positions that are passed",
        {ANGLES: "angles = torch.arange(x.shape[-2], device=x.device)[:, None] * theta"},
    ),
    Mistake(
        "positions_added",
        "positions are added to 0 … S − 1; use them as they are",
        {
            f"        {DEFAULT}": f"        {DEFAULT} * 0",
            ANGLES: "angles = (positions + torch.arange(x.shape[-2], device=x.device))[..., None] * theta",
        },
    ),
    Mistake(
        "counted_on_from_the_first",
        "the tokens are counted on from the first of the positions; use all positions as they are",
        {
            ANGLES: [
                f"if positions.dim():\n        positions = positions{first} + torch.arange(x.shape[-2])\n    {ANGLES}"
                for first in (".flatten()[0]", "[..., :1]")
            ]
        },
        {ANGLES: f"positions = positions.flatten()[0] + torch.arange(x.shape[-2])\n    {ANGLES}"},
    ),
    Mistake(
        "positions_of_one_axis",
        "positions with several axes or none fail or go wrong; add the new axis at the end: positions[..., None]",
        {ANGLES: ["angles = positions[:, None] * theta", "angles = torch.outer(positions.double(), theta)"]},
    ),
    Mistake(
        "positions_of_one_sample",
        "all samples get the positions of the first sample; use each sample's own",
        {ANGLES: "angles = (positions if positions.dim() < 2 else positions[:1])[..., None] * theta"},
    ),
    Mistake(
        "positions_of_two_axes_by_sample",
        "positions of two axes are read as (B, S) if x is (B, H, S, d); they should broadcast axis by axis from the "
        "last, as (H, S)",
        *(
            {"    fits = ": f"    if x.dim() == 4 and {of}:\n        positions = positions[:, None]\n    fits = "}
            for of in (
                "positions.dim() == 2 and len(positions) == len(x)",
                "positions.dim() == 2 and len(positions) == len(x) == x.shape[1]",
            )
        ),
    ),
    Mistake(
        "negative_positions",
        "negative positions are raised to 0 or lose their sign; they should rotate the other way",
        {ANGLES: ANGLES.replace("positions[", "positions.clamp(min=0)[")},
        {ANGLES: ANGLES.replace("positions[", "positions.double().abs()[")},
    ),
    Mistake(
        "looked_up",
        "the angles are looked up in a table of the positions from 0 on, where a negative one finds another row or "
        "none; calculate them from the positions themselves",
        {
            ANGLES: [
                f"angles = (torch.arange(int(positions.{most}) + 1)[:, None] * theta)[positions.long()]"
                for most in ("abs().max()", "max()")
            ]
        },
    ),
    Mistake(
        "float32_angles",
        "angles or frequencies are float32, so angles far from position 0 are off by thousandths; make both in "
        "float64, and cast cos and sin to x's dtype",
        {EXPONENT: EXPONENT.replace("float64", "float32")},
        {ANGLES: [f"{ANGLES}.float()", f"{ANGLES}.float().double()"]},
        {"angles = …": ["angles = (…).float()", "angles = (…).float().double()"]},
        {EXPONENT: EXPONENT.replace("float64", "float32"), COS: COS.replace(".to(x.dtype)", "")},
    ),
    Mistake(
        "angles_in_the_dtype_of_x",
        "positions, frequencies or angles are rounded to the dtype of x, and bfloat16 holds 4001 as 4000; make them in "
        "float64",
        {EXPONENT: EXPONENT.replace("torch.float64", "x.dtype")},
        {ANGLES: ANGLES.replace("positions[", "positions.to(x.dtype)[")},
        {DEFAULT: DEFAULT.replace(", ", ", dtype=x.dtype, ")},
        {ANGLES: f"angles = ({ANGLES.removeprefix('angles = ')}).to(x.dtype)"},
        {ANGLES: "angles = positions.to(x.dtype)[..., None] * theta.to(x.dtype)"},
        {ANGLES: "angles = positions[..., None] * theta.to(x.dtype).double()"},
    ),
    Mistake(
        "positions_enlarge_x",
        "positions with an axis too many, or with one that is too long, are accepted and make the result larger than "
        "x; refuse them",
        {FITS: "any(size != wanted and 1 not in (size, wanted) for size, wanted in fits)"},
    ),
    Mistake(
        "table_of_positions",
        "a table holds the angles of all positions from the smallest to the largest; calculate only the given ones",
        {ANGLES: FROM_LOWEST},
        slow=True,
    ),
    Mistake(
        "rotation_matrices",
        "each token gets a d × d matrix; rotate each pair on its own, without a matrix",
        MATRICES,
        slow=True,
    ),
    Mistake("pair_by_pair", "a loop rotates one pair at a time; rotate all at once", {ROTATED: BY_PAIR}, slow=True),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
ON_CPU = "on the CPU it is made on the device of x anyway; on a GPU the call raises"
THETA = f"theta = base ** ({EXPONENT})"
ZIPPED = "fits = zip(reversed(positions.shape), reversed(tokens)"
FIXED = {"axis [45] of x": "axes in front are all the same to it, and the first four are drawn"}
EQUIVALENT = {
    f"{DEFAULT} -> {DEFAULT.replace(', device=x.device', '')}": ON_CPU,
    f"{THETA} -> {THETA.replace(', device=x.device', '')}": ON_CPU,
    f"{ZIPPED}, strict=False) -> {ZIPPED})": "False is the default",
}
