"""Known wrong answers to kmeans."""

from graders.kata import Mistake

DISTANCES = 'distances = torch.cdist(x, centroids, compute_mode="donot_use_mm_for_euclid_dist")'
EXPANDED = "distances = x.square().sum(1, keepdim=True) - 2 * x @ centroids.T + centroids.square().sum(1)"
LABELS = "labels = distances.argmin(dim=1)"
LAST, ROUNDS = "moves == max_iters", "range(max_iters + 1)"
MOVED = "torch.where(counts > 0, sums / counts, centroids)"
UNCHANGED, KEPT = "torch.equal(labels, before)", "before = labels"
INERTIA = "inertia = (x - centroids[labels]).square().sum()"
RESULT = "return centroids, labels, inertia"
STOPS_EARLY = f"""last, centroids = centroids, {MOVED}
        if (centroids - last).norm() < 1e-4:
            max_iters = moves + 1"""
STAYS = f"""moved = {MOVED}
        if (moved - centroids).norm() < 1e-4:
            max_iters = moves + 1
        else:
            centroids = moved"""
FARTHEST = "x[(x - centroids[labels]).square().sum(1).argmax()]"
MEDIANS = "torch.stack([x[labels == k].median(0).values if k in labels else c for k, c in enumerate(centroids)])"
ONE_BY_ONE = """centroids = centroids.clone()
        for k in range(len(centroids)):
            mine = x[torch.cdist(x, centroids).argmin(1) == k]
            centroids[k] = mine.mean(0) if len(mine) else centroids[k]"""
BY_POINT = "torch.stack([(row - centroids).square().sum(1) for row in x])"

FIRST = "chosen = [int(uniforms[0] * N)]"
SQUARED = "squared = (x - x[chosen[0]]).square().sum(dim=1)"
LATER = "(x - x[chosen[-1]]).square().sum(dim=1)"
NEAREST = f"torch.minimum(squared, {LATER})"
PICKED = "int(torch.searchsorted(cumulative, u * cumulative[-1], right=True))"
PLAIN = {old: old.replace(".square().sum", ".norm") for old in (SQUARED, LATER)}
BY_CDIST = {SQUARED: "squared = torch.cdist(x, x[chosen])[:, 0].square()"}
BY_CDIST |= {NEAREST: "torch.cdist(x, x[chosen]).amin(1).square()"}
EXACT = ', compute_mode="donot_use_mm_for_euclid_dist"'
BY_SHARES = "int(torch.searchsorted((squared / squared.sum()).cumsum(0), u))"
SORTED = (
    "int((s := squared.sort(descending={})).indices[torch.searchsorted(s.values.cumsum(0), u * s.values.sum())"
    ".clamp(max=N - 1)])"
)

MISTAKES = (
    Mistake(
        "labels_of_the_step_before",
        "the centroids move after the labels or the inertia were found; find both for the centroids that are returned",
        {INERTIA: INERTIA.replace("labels", "before"), RESULT: RESULT.replace("labels", "before")},
        {INERTIA: INERTIA.replace("labels", "before")},
        {RESULT: RESULT.replace("labels", "before")},
        {ROUNDS: "range(max_iters)", INERTIA: "inertia = distances.amin(1).square().sum()"},
        {KEPT: f"{KEPT}\n        last = distances", INERTIA: "inertia = last.amin(1).square().sum()"},
        {
            KEPT: f"{KEPT}\n        last = distances",
            INERTIA: f"inertia = (distances if {UNCHANGED} else last).amin(1).square().sum()",
        },
    ),
    Mistake(
        "one_move_too_few",
        "the centroids move max_iters − 1 times; the first labels are found before any move, so label max_iters + 1 "
        "times",
        {LAST: f"{LAST} - 1"},
    ),
    Mistake(
        "one_move_too_many",
        "the centroids move max_iters + 1 times; find the labels after the last move, and move no more",
        {ROUNDS: "range(max_iters + 2)", LAST: f"{LAST} + 1"},
    ),
    Mistake(
        "max_iters_ignored",
        "max_iters is ignored; stop after max_iters moves",
        {ROUNDS: "range(101)", LAST: "moves == 100"},
    ),
    Mistake(
        "first_labels_compared_with_zeros",
        "the first labels are compared with zeros, so nothing moves if all points begin in cluster 0; before the first "
        "move there are no labels to compare with",
        {"before = None": "before = torch.zeros(len(x), dtype=torch.int64)"},
    ),
    Mistake(
        "stops_when_moves_are_small",
        "kmeans stops when a move changes the centroids or the inertia by less than a tolerance, while labels still "
        "change; stop when no label changes",
        {f"centroids = {MOVED}": STOPS_EARLY},
        {f"centroids = {MOVED}": STAYS},
        {
            f"centroids = {MOVED}": [
                STOPS_EARLY.replace("norm() < 1e-4", f"square().sum() < {share} * x.var(0).mean()")
                for share in ("1e-4", "1e-6")
            ]
        },
        *(
            {
                LABELS: f"{LABELS}\n        {INERTIA}",
                UNCHANGED: f"(before - inertia) < {least}",
                KEPT: "before = inertia",
            }
            for least in ("1e-4", "1e-6", "1e-4 * before")
        ),
    ),
    Mistake(
        "never_stops_early",
        "the loop goes on to max_iters even if no label changes any more; stop when none changes",
        {"before = labels": "pass"},
        slow=True,
    ),
    Mistake(
        "start_overwritten",
        "the centroids that the caller passed are changed in place; move a copy of them",
        {f"centroids = {MOVED}": f"centroids[:] = {MOVED}"},
    ),
    Mistake(
        "empty_is_nan",
        "a cluster without points gets the mean of nothing, NaN; it should keep its centroid",
        {MOVED: "sums / counts"},
    ),
    Mistake(
        "empty_is_zero",
        "a cluster without points moves to 0; it should keep its centroid",
        {MOVED: "sums / counts.clamp(min=1)"},
    ),
    Mistake(
        "empty_is_moved",
        "a cluster without points is moved to some point, as scikit-learn moves it to the farthest, or is drawn anew; "
        "it should keep its centroid",
        {MOVED: MOVED.replace("centroids)", f"{FARTHEST})")},
    ),
    Mistake(
        "empty_goes_back",
        "a cluster that has lost its points goes back to the start; it should keep its latest centroid",
        {"before = None": "before, start = None, centroids", MOVED: MOVED.replace("centroids", "start")},
    ),
    Mistake(
        "empty_is_dropped",
        "clusters without points are dropped, so fewer than K centroids come back; keep the centroids of all clusters",
        {MOVED: "(sums / counts)[counts[:, 0] > 0]"},
        {RESULT: "used = labels.unique()\n    return centroids[used], torch.searchsorted(used, labels), inertia"},
    ),
    Mistake(
        "inertia_of_distances",
        "inertia adds up distances, or is the root of the sum of squares; add up the squared distances",
        {INERTIA: ["inertia = (x - centroids[labels]).norm(dim=1).sum()", f"{INERTIA}.sqrt()"]},
    ),
    Mistake(
        "inertia_averaged",
        "inertia is a mean over the points, or over all N · D numbers; add up the squared distances",
        {INERTIA: ["inertia = (x - centroids[labels]).square().sum(1).mean()", INERTIA.replace(".sum()", ".mean()")]},
    ),
    Mistake(
        "ties_to_the_last",
        "a point that is equally near to two centroids gets the last one's label; it should get the first one's",
        {LABELS: "labels = len(centroids) - 1 - distances.flip(1).argmin(dim=1)"},
    ),
    Mistake(
        "squares_expanded",
        "far from the origin, float32 is too coarse for ‖x‖² − 2xc + ‖c‖², which torch.cdist uses from 26 rows on; "
        "subtract one centroid at a time",
        {DISTANCES: "distances = torch.cdist(x, centroids)"},
        {DISTANCES: EXPANDED},
        {DISTANCES: EXPANDED, INERTIA: "inertia = distances.amin(1).sum()"},
        {DISTANCES: "distances = centroids.square().sum(1) - 2 * x @ centroids.T"},
        {DISTANCES: "distances = torch.cdist(x, centroids)", INERTIA: "inertia = distances.amin(1).square().sum()"},
        BY_CDIST,
    ),
    Mistake(
        "sums_of_absolute_values",
        "absolute differences are added up, for the labels alone or for labels and inertia; add up their squares",
        {DISTANCES: "distances = torch.cdist(x, centroids, p=1)"},
        {
            DISTANCES: "distances = torch.cdist(x, centroids, p=1)",
            INERTIA: "inertia = (x - centroids[labels]).abs().sum()",
        },
    ),
    Mistake(
        "dot_products",
        "a point is given to the centroid with the largest dot product; give it to the nearest centroid",
        {DISTANCES: "distances = -(x @ centroids.T)"},
    ),
    Mistake(
        "one_centroid_at_a_time",
        "each centroid that moves changes the labels before the next one moves; label all points, then move all "
        "centroids",
        {f"centroids = {MOVED}": ONE_BY_ONE},
        {
            f"centroids = {MOVED}": ONE_BY_ONE.replace("mine = x[torch", "before = torch").replace(
                " == k]", "\n            mine = x[before == k]"
            )
        },
    ),
    Mistake("medians", "centroids move to the median of their points; take the mean", {MOVED: MEDIANS}),
    Mistake(
        "plain_distances_drawn",
        "kmeans_plus_plus draws rows by their distance; draw them by the squared distance",
        PLAIN,
        PLAIN | {", right=True": ""},
        PLAIN | {"cumulative[-1]": "squared.sum()"},
        PLAIN | {PICKED: BY_SHARES},
    ),
    Mistake(
        "drawn_twice",
        "with a u of 0, a row can be drawn twice; search for u times the last cumulative sum, by searchsorted with "
        "right=True",
        {", right=True": ""},
        {PICKED: BY_SHARES},
    ),
    Mistake(
        "total_summed_apart",
        "the total is summed separately, and rounding can put u · total above all cumulative sums; take the last of "
        "them as the total",
        {"cumulative[-1]": "squared.sum()"},
        {PICKED: f"{PICKED} if u < 0.9999999 else N - 1"},  # clamped, whenever that is needed
        {
            PICKED: [
                BY_SHARES.replace("u)", "u, right=True)"),
                BY_SHARES.replace("u)", "u, right=True).clamp(max=N - 1)"),
            ]
        },
        {PICKED: BY_SHARES.replace("u)", "u, right=True)")}
        | {one: new.replace("chosen]", f"chosen]{EXACT}") for one, new in BY_CDIST.items()},
    ),
    Mistake(
        "first_row_alone",
        "the distance is to the first row in every draw; take the nearest of all rows drawn so far",
        {f"squared = {NEAREST}": "pass"},
        {f"squared = {NEAREST}": "squared[chosen[-1]] = 0"},
    ),
    Mistake(
        "last_row_alone",
        "the distance is to the row drawn last; take the nearest of all rows drawn so far",
        {NEAREST: [LATER, f"{LATER}.index_fill(0, torch.tensor(chosen), 0)"]},
    ),
    Mistake(
        "farthest_drawn_row",
        "the distance is to the farthest row drawn so far; take the nearest",
        {NEAREST: NEAREST.replace("minimum", "maximum")},
    ),
    Mistake(
        "distances_added",
        "the squared distances to all rows drawn so far are added up; take the smallest of them",
        {NEAREST: f"squared + {LATER}"},
    ),
    Mistake(
        "always_the_farthest",
        "the next row is always the one farthest away; draw it by u and the cumulative sum",
        {PICKED: "int(squared.argmax())"},
    ),
    Mistake(
        "drawn_in_order_of_distance",
        "the cumulative sum is taken of sorted distances, so u gives another row; add up the rows in the order of x",
        {PICKED: [SORTED.format(down) for down in ("True", "False")]},
    ),
    Mistake(
        "drawn_uniformly",
        "every draw gives all rows equal probability; only the first draw should",
        {PICKED: "int(u * N)"},
    ),
    Mistake(
        "total_left_out",
        "the cumulative sum is compared with u; compare it with u times its last entry",
        {"u * cumulative[-1]": "u"},
    ),
    Mistake(
        "first_row_rounded",
        "the first row is u · N rounded to the nearest number, or ⌊u · (N − 1)⌋; round u · N down",
        {FIRST: ["chosen = [min(round(float(uniforms[0] * N)), N - 1)]", FIRST.replace("N)", "(N - 1))")]},
    ),
    Mistake(
        "point_by_point",
        "a Python loop takes one point at a time; loop over the centroids at most",
        {DISTANCES: f"distances = {BY_POINT}"},
        slow=True,
    ),
    Mistake(
        "table_of_differences",
        "all N × K × D differences are kept before they are summed; take one centroid at a time",
        {DISTANCES: "distances = (x[:, None] - centroids).square().sum(-1)"},
        slow=True,
    ),
    Mistake(
        "table_of_all_points",
        "the distances of all pairs of points are computed; those to the rows drawn are enough",
        {NEAREST: 'torch.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist")[:, chosen].square().amin(1)'},
        slow=True,
    ),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT = {
    "for moves in range(max_iters + 1): -> for moves in range(max_iters + 2):": "its last round is not reached",
    "squared = (x - x[chosen[0]]).square().sum(dim=1) -> squared = (x - x[chosen[-1]]).square().sum(dim=1)": (
        "the only row is the first and the last one"
    ),
    "if moves == max_iters or (before is not None and torch.equal(labels, before)): -> "
    "if moves == max_iters or (before is not None and torch.equal(before, labels)):": "equality has no order",
    "cumulative = squared.cumsum(dim=0) -> cumulative = squared.cumsum(dim=-1)": "it has one axis",
    f"squared = {NEAREST} -> squared = torch.minimum({LATER}, squared)": "the smaller of two numbers has no order",
}
