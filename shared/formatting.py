"""Numbers and verdicts in the words people read: the same in a terminal, a report and a page."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from unicodedata import bidirectional, category

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
DISPARITY = "disparity"
VERDICT_WORDS = {
    DISPARITY: "disparity",
    "no_disparity": "no disparity beyond the tolerance",
    "not_enough_evidence": "not enough evidence",
}
NOT_MEASURED = "not measured"
"""Instead of a verdict, where a side of the comparison has no measured answer."""
NOTHING_COMPARED = "No two groups were compared."
COULD_UNDO = "the missing answers could undo it"
_RANKS = {verdict: rank for rank, verdict in enumerate(VERDICT_WORDS)}


def by_evidence(
    verdict: str, p_adjusted: float | None, gap: float | None
) -> tuple[int, float, float]:
    """Return what comparisons are sorted by: what is decided first, then by p, then by size."""
    p = 1.0 if p_adjusted is None else p_adjusted
    return _RANKS.get(verdict, len(_RANKS)), p, -abs(gap or 0.0)


def verdict_words(
    verdict: str, survives_missing: bool | None = None, *, unmeasured: bool = False
) -> str:
    """Return a verdict in words, with what the missing answers could do to it."""
    if unmeasured:
        return NOT_MEASURED
    words = VERDICT_WORDS[verdict]
    return f"{words}, but {COULD_UNDO}" if survives_missing is False else words


def verdict_lead(concluded: Sequence[tuple[str, bool | None, bool]], *, brief: bool = False) -> str:
    """Return how many comparisons show a disparity, and how the others ended.

    Each is a verdict, whether it survives the missing answers, and whether it is unmeasured. Beside
    a disparity, a brief sentence counts only unmeasured comparisons.
    """
    if not concluded:
        return NOTHING_COMPARED
    disparities = [survives for verdict, survives, _ in concluded if verdict == DISPARITY]
    undone = disparities.count(False)
    which = "it" if len(disparities) == 1 else f"{undone} of them"
    doubt = f", but the missing answers could undo {which}" if undone else ""
    endings = Counter(
        verdict_words(verdict, unmeasured=unmeasured)
        for verdict, _, unmeasured in concluded
        if verdict != DISPARITY
    )
    words = [NOT_MEASURED] if brief and disparities else [*VERDICT_WORDS.values(), NOT_MEASURED]
    listed = ", ".join(f"{ending}: {endings[ending]}" for ending in words if endings[ending])
    total = f"{len(concluded)} comparison{'' if len(concluded) == 1 else 's'}"
    shows = "show" if len(disparities) > 1 else "shows"
    head = f"{len(disparities) or 'None'} of {total} {shows} a disparity{doubt}"
    return f"{head}; {listed}." if listed else f"{head}."


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


JOINERS = "\u200c\u200d"
"""Persian, Hindi and emoji are written with them; they move nothing."""
FIRST_STRONG, END = "\u2068", "\u2069"
_LINES = "\n\t"
_SPACES = {"Zs", "Zl", "Zp"}
_UNSEEN = {"Cc", "Cf", "Cs"}
_RIGHT_TO_LEFT = {"R", "AL", "AN"}
_NEVER_A_CHARACTER = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")
_RUN = "{letters}+(?:[ {joiners}]*{letters}+)*"


def shown(text: str) -> str:
    """Return text that can stand in a sentence of ours: visible, and isolated."""
    if text.isascii() and text.isprintable():  # as nearly all of a page is
        return text
    return isolated(visible(text))


def visible(text: str) -> str:
    """Return text in which every character is seen; line ends and tabs stay."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(map(_visible, text))


def on_one_line(text: str) -> str:
    """Return visible text without line ends and tabs."""
    return visible("".join(" " if c in "\n\r\t\v\f" else c for c in text))


def isolated(text: str) -> str:
    """Return text whose parts that are written from right to left turn nothing around them.

    Each run of such words is isolated by itself: in `A minus B: 0.3` both names may be ones.
    """
    if text.isascii() or not any(map(_turns, text)):
        return text
    letters = "[" + "".join(sorted({c for c in text if _turns(c) or category(c) == "Mn"})) + "]"
    run = _RUN.format(letters=letters, joiners=JOINERS)
    return re.sub(run, lambda found: f"{FIRST_STRONG}{found[0]}{END}", text)


def _visible(c: str) -> str:
    if c.isprintable() or c in _LINES or c in JOINERS:
        return c
    kind = category(c)
    if kind in _SPACES:
        return " "
    is_unseen = kind in _UNSEEN or _NEVER_A_CHARACTER.match(c) or ord(c) & 0xFFFE == 0xFFFE
    return f"⟨U+{ord(c):04X}⟩" if is_unseen else c


def _turns(c: str) -> bool:
    return not c.isascii() and bidirectional(c) in _RIGHT_TO_LEFT
