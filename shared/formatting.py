"""Numbers and verdicts as shown in terminals, reports and pages."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

UNDEFINED = "-"
COMMON_LETTERS = 4
"""Initial letters that identify a feature with its extractor (refusal, refused)."""
DIGITS, P_DIGITS = 3, 2
ROUNDING_ERROR = 1e-12
"""Differences below this are shown as 0."""
MIN_SHOWN_P = 1e-4
"""Smaller p-values are shown as smaller; JSON and CSV have the number."""
LEAST_P = 1e-300
"""Smaller p-values cannot be distinguished from 0 in floating point."""
TOO_SMALL = f"smaller than {LEAST_P:g}, the least that is computed"
DISPARITY, NO_DISPARITY, INCONCLUSIVE = "disparity", "no_disparity", "inconclusive"
VERDICT_WORDS = {
    DISPARITY: "disparity",
    NO_DISPARITY: "no disparity beyond the tolerance",
    INCONCLUSIVE: "inconclusive",
}
NOT_MEASURED = "not measured"
"""Replaces the verdict if a group has no measured answer."""
MAX_SIZES = 3
"""Features whose undetected gaps a sentence states."""
NOTHING_COMPARED = "No two groups were compared."
COULD_UNDO = "the missing answers could undo it"
_RANKS = {verdict: rank for rank, verdict in enumerate(VERDICT_WORDS)}


def by_evidence(
    verdict: str, p_adjusted: float | None, gap: float | None
) -> tuple[int, float, float]:
    """Return the sort key of comparisons: verdict, then p-value, then size of the gap."""
    p = 1.0 if p_adjusted is None else p_adjusted
    return _RANKS.get(verdict, len(_RANKS)), p, -abs(gap or 0.0)


def verdict_words(
    verdict: str, survives_missing: bool | None = None, *, unmeasured: bool = False
) -> str:
    """Return a verdict in words, with a note if the missing answers could change it."""
    if unmeasured:
        return NOT_MEASURED
    words = VERDICT_WORDS[verdict]
    return f"{words}, but {COULD_UNDO}" if survives_missing is False else words


def summary_word(outcomes: Collection[str]) -> str | None:
    """Return one word for several outcomes; None where none was measured.

    Parameters
    ----------
    outcomes
        The verdict of each measured comparison.

    Examples
    --------
    >>> summary_word(["no_disparity", "inconclusive"])
    'inconclusive'
    """
    if not outcomes or DISPARITY in outcomes:
        return DISPARITY if outcomes else None
    return NO_DISPARITY if set(outcomes) == {NO_DISPARITY} else INCONCLUSIVE


Undetected = dict[str, float | None]
"""The largest gap that inconclusive comparisons leave possible, by feature; None for any size."""


def undetected_gaps(gaps: Iterable[tuple[str, float | None, float | None]]) -> Undetected:
    """Return the farthest end of the intervals of each feature.

    Examples
    --------
    >>> undetected_gaps([("rating", -0.2, 0.6), ("rating", -0.8, 0.1), ("length", None, None)])
    {'rating': 0.8, 'length': None}
    """
    largest: Undetected = {}
    for feature, low, high in gaps:
        known = largest.get(feature, 0.0)
        is_open = known is None or low is None or high is None
        largest[feature] = None if is_open else max(known or 0.0, abs(low or 0.0), abs(high or 0.0))
    return largest


def undetected_words(undetected: Undetected) -> str:
    """Return the size of gaps that could remain undetected as a clause.

    Examples
    --------
    >>> undetected_words({"rating": 0.8})
    'a gap of up to 0.8 in rating could remain undetected'
    """
    sizes = [
        f"{'any size' if size is None else f'up to {number(size, 2)}'} in {name.replace('_', ' ')}"
        for name, size in list(undetected.items())[:MAX_SIZES]
    ]
    if not sizes:
        return ""
    left = len(undetected) - MAX_SIZES
    more = f" (and {left} more numbers)" if left > 0 else ""
    return f"a gap of {', '.join(sizes)}{more} could remain undetected"


def verdict_lead(
    concluded: Sequence[tuple[str, bool | None, bool]],
    undetected: Undetected | None = None,
    *,
    brief: bool = False,
) -> str:
    """Return the outcome of comparisons in a sentence that begins with its one word.

    Parameters
    ----------
    concluded
        For each comparison: its verdict, whether it survives the missing answers, and whether it
        is unmeasured.
    undetected
        The largest gaps that the inconclusive comparisons leave possible.
    brief
        If there is a disparity, count only unmeasured comparisons among the others.
    """
    if not concluded:
        return NOTHING_COMPARED
    outcomes = [NOT_MEASURED if unmeasured else verdict for verdict, _, unmeasured in concluded]
    word = summary_word([outcome for outcome in outcomes if outcome != NOT_MEASURED])
    counts, total = Counter(outcomes), len(outcomes)
    noun = "the only comparison" if total == 1 else f"{total} comparisons"
    if word is None:
        is_measured = f"{noun} is not" if total == 1 else f"none of {noun} is"
        return f"Inconclusive: {is_measured} measured."
    remaining = [NOT_MEASURED] if brief and word == DISPARITY else [*VERDICT_WORDS, NOT_MEASURED]
    listed = (
        f"{VERDICT_WORDS.get(other, other)}: {counts[other]}"
        for other in remaining
        if counts[other] and other != word
    )
    size = undetected_words(undetected or {}) if word == INCONCLUSIVE else ""
    head = _lead_head(word, counts[word], total, noun)
    if word == DISPARITY and (undone := [c[1] for c in concluded if c[0] == word].count(False)):
        which = "it" if counts[word] == 1 else f"{undone} of them"
        head += f", but the missing answers could undo {which}"
    return "; ".join(filter(None, (head, size, ", ".join(listed)))) + "."


def _lead_head(word: str, count: int, total: int, noun: str) -> str:
    """Return the first clause of the sentence about several comparisons."""
    if word == NO_DISPARITY:
        return f"No disparity beyond the tolerance in {noun if total == 1 else f'any of {noun}'}"
    of = noun if total == 1 else f"{count} of {noun}"
    if word == DISPARITY:
        return f"Disparity in {of}"
    return f"Inconclusive: {of} {'is' if count == 1 else 'are'} undecided"


def number(value: float | None, digits: int = DIGITS, *, signed: bool = False) -> str:
    """Return a number with significant digits, at least all before the point; None as "-"."""
    if value is None:
        return UNDEFINED
    value = 0.0 if abs(value) < ROUNDING_ERROR else value
    sign = "+" if signed and value else ""
    # Larger values would round to one digit more than `digits`.
    if abs(value) >= 10**digits - 0.5:
        return f"{value:{sign},.0f}"
    return f"{value:{sign}.{digits}g}"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> counted(1, "round"), counted(2000, "call")
    ('1 round', '2,000 calls')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def names_itself(extractor: str, feature: str) -> bool:
    """Tell whether a feature has nearly the name of its extractor: rating, refused by refusal."""
    common = feature[:COMMON_LETTERS] == extractor[:COMMON_LETTERS]
    return feature == extractor or (common and len(feature) > COMMON_LETTERS)


def number_name(extractor: str, feature: str, watched: Collection[tuple[str, str]] = ()) -> str:
    """Return the name of a feature, with its extractor if that is informative.

    `watched` are the extractors and features shown together; the extractor is left out if it is
    the only one of this feature and has no other.
    """
    measure, at, level = feature.partition("@")  # the level is a name of the user's
    name = measure.replace("_", " ") + at + level
    features = {other for by, other in watched if by == extractor}
    readers = {by for by, other in watched if other == feature}
    alone = features == {feature} and len(readers) == 1
    return name if alone or names_itself(extractor, feature) else f"{name} ({extractor})"


def p_value(value: float | None, digits: int = P_DIGITS) -> str:
    """Return a p-value with two significant digits, or `< 0.0001`."""
    if value is None:
        return UNDEFINED
    return "< 0.0001" if value < MIN_SHOWN_P else f"{value:.{digits}g}"


def p_equals(value: float | None, digits: int = P_DIGITS) -> str:
    """Return a p-value within a sentence: `p = 0.03`, `p < 0.0001`."""
    text = p_value(value, digits)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def computed_p(value: float | None) -> float | None:
    """Return a p-value for JSON; None if it underflowed to 0."""
    return value or None


def interval(value: float | None, low: float | None, high: float | None, reason: str | None) -> str:
    """Return an estimate with its interval, or with the reason for having none."""
    if low is None:
        return f"{number(value)} [{reason or 'no interval'}]"
    return f"{number(value)} [{number(low)}, {number(high)}]"


def coverage(alpha: float) -> str:
    """Return the coverage of intervals at this level: 95 %."""
    return f"{100 * (1 - alpha):g} %"
