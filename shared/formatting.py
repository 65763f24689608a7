"""Numbers and verdicts in the words people read: the same in a terminal, a report and a page."""

from collections.abc import Collection

UNDEFINED = "-"
ALIKE = 4
"""Letters: an extractor and a number that begin with so many alike (refusal, refused) are one."""
DIGITS, P_DIGITS = 3, 2
ROUNDING_ERROR = 1e-12
"""What arithmetic alone leaves of equal numbers."""
LEAST_SHOWN_P = 1e-4
"""A smaller p-value is only said to be smaller; JSON and CSV have the number."""
LEAST_P = 1e-300
"""A smaller p-value is not told apart from 0 by the numbers a computer calculates with."""
TOO_SMALL = f"smaller than {LEAST_P:g}, the least that is computed"
VERDICT_WORDS = {
    "disparity": "disparity",
    "no_disparity": "no disparity beyond the tolerance",
    "not_enough_evidence": "not enough evidence",
}
_RANKS = {verdict: rank for rank, verdict in enumerate(VERDICT_WORDS)}


def by_evidence(
    verdict: str, p_adjusted: float | None, gap: float | None
) -> tuple[int, float, float]:
    """Return what comparisons are sorted by: what is decided first, then by p, then by size."""
    p = 1.0 if p_adjusted is None else p_adjusted
    return _RANKS.get(verdict, len(_RANKS)), p, -abs(gap or 0.0)


def number(value: float | None, digits: int = DIGITS, *, signed: bool = False) -> str:
    """Return so many significant figures, or all before the point; the undefined is never 0."""
    if value is None:
        return UNDEFINED
    value = 0.0 if abs(value) < ROUNDING_ERROR else value
    sign = "+" if signed else ""
    # From here on, rounding to the figures asked for would need one more of them.
    if abs(value) >= 10**digits - 0.5:
        return f"{value:{sign},.0f}"
    return f"{value:{sign}.{digits}g}"


def names_itself(extractor: str, feature: str) -> bool:
    """Tell whether a number has about the name of what reads it: rating, refused by refusal."""
    alike = feature[:ALIKE] == extractor[:ALIKE] and len(feature) > ALIKE
    return feature == extractor or alike


def number_name(extractor: str, feature: str, watched: Collection[tuple[str, str]] = ()) -> str:
    """Return what people call a number: its feature, and what read it where that tells more.

    `watched` are the extractors and features beside which it stands; of an extractor that reads
    one of them alone nothing more need be said.
    """
    said = feature.replace("_", " ")
    features = {name for by, name in watched if by == extractor}
    readers = {by for by, name in watched if name == feature}
    alone = features == {feature} and len(readers) == 1
    return said if alone or names_itself(extractor, feature) else f"{said} ({extractor})"


def p_value(value: float | None, digits: int = P_DIGITS) -> str:
    """Return a p-value to two significant figures; one that is tiny is said to be tiny."""
    if value is None:
        return UNDEFINED
    return "< 0.0001" if value < LEAST_SHOWN_P else f"{value:.{digits}g}"


def p_equals(value: float | None, digits: int = P_DIGITS) -> str:
    """Return a p-value within a sentence: `p = 0.03`, `p < 0.0001`."""
    text = p_value(value, digits)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def computed_p(value: float | None) -> float | None:
    """Return a p-value as a number for JSON: null where it is too small to be one."""
    return value or None


def interval(value: float | None, low: float | None, high: float | None, reason: str | None) -> str:
    """Return an estimate with its interval, or with the reason why it has none."""
    if low is None:
        return f"{number(value)} [{reason or 'no interval'}]"
    return f"{number(value)} [{number(low)}, {number(high)}]"


def coverage(alpha: float) -> str:
    """Return what intervals at this level cover: 95 %."""
    return f"{100 * (1 - alpha):g} %"
