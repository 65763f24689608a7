"""Where an interval lies, as a sentence says: which side of no difference, or on both."""

import re
from collections.abc import Iterator

from services.evaluator.domain.checks.denials import NEGATED
from services.evaluator.domain.checks.wording import Wording
from services.evaluator.domain.subjects import measure_of
from shared.contracts import Measure, Subject

_INCLUDES = (
    r"(?:includ|contain|cover|cross|span|straddl|encompass|overlap|tak(?:e|es"
    r"|ing)\s+in|pass(?:es)?\s+through|reach|holds?\b|admits?\b)\w*"
)
_EXCLUDES = (
    r"(?:exclud|rul(?:e|es|ing)\s+out|leav(?:e|es|ing)\s+out|omit|miss(?:es)?\b"
    r"|stays?\s+clear\s+of|clear\s+of|away\s+from)\w*"
)
_NO_DIFFERENCE = (
    r"(?:the\s+|a\s+)?(?:value\s+of\s+|point\s+of\s+|possibility\s+of\s+"
    r"|null\s+value\s*(?:of\s+)?|null|line\s+of\s+)?(?:<n(?P<n>\d+)>"
    r"|no\s+(?:difference|effect|association|disparity)|null(?:\s+value)?|parity"
    r"|unity|equality|one\b|zero\b|equal\s+(?:odds|risks?|rates))"
)
_HOLDS = re.compile(
    rf"\b(?P<verb>{_INCLUDES}|{_EXCLUDES})\s+(?:across\s+)?(?:the\s+)?(?:{_NO_DIFFERENCE})"
)
_AMONG = re.compile(
    r"<n(?P<n>\d+)>[^;<]*?\b(?P<said>among\s+(?:the\s+values|those)|(?:falls?|lies?|is)\s+(?:within|inside|between|among|outside"
    r"|beyond)|(?:in)?compatible\s+with|inside\s+(?:it|the)|outside\s+(?:it|the)|could\s+be|can(?:not|\s+not)?\s+be\s+(?:ruled\s+out|excluded))\b"
)
_BEHIND = re.compile(
    r"\b(?P<said>values\s+inside\s+the\s+interval[^;]*?\bis|(?:on|lies?|falls?\s+on)\s+(?:both\s+sides|either\s+side|(?:one|the\s+same)\s+side)\s+of"
    r"|could\s+(?:not\s+)?be|(?:can|could)(?:not|\s+not)?\s+exclude\s+an?\s+<m:[\w-]+>\s+of|fall\s+on\s+either\s+side\s+of)\s+<n(?P<n>\d+)>"
)
_OUT = re.compile(
    r"\boutside|\bbeyond|\bincompatible|\bone\s+side|\bsame\s+side|\bexclude|\bruled\s+out"
)
_SIDE = re.compile(
    rf"\b(?P<side>above|over|greater\s+than|larger\s+than|higher\s+than|beyond"
    rf"|below|under|less\s+than|smaller\s+than|lower\s+than"
    rf"|exceeds?)\s+(?:{_NO_DIFFERENCE})"
)
_WHOLE = re.compile(
    r"\binterval|\bbounds?\b|\blimits?\b|\bci\b|\brange|\bentire|\bwholly"
    r"|\bwhole\b|\bcompletely|\bboth\s+ends|\bends\b"
)
_BOTH_ENDS = re.compile(r"\blower\b.*\bupper\b|\bupper\b.*\blower\b")
_NAMED_NULL = re.compile(r"\bno\s+(?:difference|effect|association|disparity)\b")
_ACROSS = re.compile(r"\bbelow\s+<n\d+>\s+(?:to|and)\s+above\b")
_DENIES = re.compile(r"\b(?:not|none|no|never|neither|cannot)\b")
_TOLD = re.compile(r"\binterval|\bci\b|\brange|\bbounds?|\blimits?|\bit\b|\bwhich\b|\bboth\b")


def interval_side_faults(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault where an interval or an estimate lies elsewhere than is said."""
    pattern = wording.pattern
    for found in _HOLDS.finditer(pattern):
        if not _is_neutral(found, wording) or not _TOLD.search(pattern[: found.start()] + " it"):
            continue
        negated = bool(NEGATED.search(pattern[: found.start()]))
        includes = bool(re.match(_INCLUDES, found["verb"])) is not negated
        for measure in _meant(wording, subject, found.start()):
            actual = includes_no_difference(measure)
            if actual is not None and actual is not includes:
                said = "does not contain" if includes else "contains"
                yield (
                    "interval",
                    f"The interval of the {measure.label} {said} the value of no difference.",
                )
                break
    for found in _SIDE.finditer(pattern):
        if _is_neutral(found, wording) and not _ACROSS.search(pattern):
            yield from _side(found, wording, subject)
    yield from _positions(wording, subject)


def speaks_of_sides(wording: Wording) -> bool:
    """Whether a sentence is read as saying where an interval or an estimate lies."""
    found = (each.search(wording.pattern) for each in (_HOLDS, _SIDE, _AMONG, _BEHIND))
    return any(each and _is_neutral(each, wording) for each in found)


def _positions(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault where the value of no difference is said to lie elsewhere than it does."""
    pattern = wording.pattern
    for found in (*_AMONG.finditer(pattern), *_BEHIND.finditer(pattern)):
        if not _is_neutral(found, wording) or not (_TOLD.search(pattern) or "ruled out" in pattern):
            continue
        before = _NAMED_NULL.sub(" ", pattern[: found.start("said")])
        negated = bool(_DENIES.search(before + found["said"]))
        includes = (not _OUT.search(found["said"])) is not negated
        for measure in _meant(wording, subject, found.end()):
            actual = includes_no_difference(measure)
            if actual is not None and actual is not includes:
                said = "does not contain" if includes else "contains"
                what = f"The interval of the {measure.label} {said} the value of no difference."
                yield "interval", what
                return


def _side(found: re.Match[str], wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    before = wording.pattern[: found.start()]
    negated = bool(NEGATED.search(before))
    above = bool(re.match(r"above|over|great|larg|high|beyond|exceed", found["side"]))
    whole = bool(_WHOLE.search(before)) and not re.search(r"\bestimates?\b|\bpoint\b", before)
    for measure in _meant(wording, subject, found.start()):
        ends = (measure.low, measure.high) if whole else (measure.value, measure.value)
        if _BOTH_ENDS.search(before):
            ends = (measure.low, measure.high)
        elif re.search(r"\blower\s+(?:bound|limit|end)[^.;]*$", before):
            ends = (measure.low, measure.low)
        elif re.search(r"\bupper\s+(?:bound|limit|end)[^.;]*$", before):
            ends = (measure.high, measure.high)
        neutral = measure.no_difference
        if neutral is None or ends[0] is None or ends[1] is None:
            continue
        true = ends[0] > neutral if above else ends[1] < neutral
        if true is negated:
            what = "interval" if whole else "value"
            yield "interval", f"The {what} of the {measure.label} lies elsewhere than is said."
            return


def _is_neutral(found: re.Match[str], wording: Wording) -> bool:
    if found["n"] is None:
        return True
    return wording.numbers[int(found["n"])].value in {0.0, 1.0}


def _meant(wording: Wording, subject: Subject, at: int) -> list[Measure]:
    """Return the measures with intervals that a place in the pattern speaks of."""
    ratios = [m for m in subject.measures if m.no_difference is not None and m.low is not None]
    named = re.findall(r"<m:([\w-]+)>", wording.pattern[:at])
    if re.search(r"\b(?:both|all|each|two|intervals|every)\b[^.;]{0,40}$", wording.pattern[:at]):
        several = [m for m in ratios if m.name in named]
        return several if len(several) > 1 else [m for m in ratios if m.no_difference == 1][:2]
    name = named[-1] if named else None
    if name is None:
        after = re.findall(r"<m:([\w-]+)>", wording.pattern[at:])
        name = after[0] if after else wording.carried
    found = measure_of(subject, name) if name else None
    if found is None or found.no_difference is None:
        return ratios[:1] if name is None and len(ratios) == 1 else []
    return [found]


def includes_no_difference(measure: Measure) -> bool | None:
    """Whether the interval of a measure contains its value of no difference; None without one."""
    if measure.low is None or measure.high is None or measure.no_difference is None:
        return None
    return measure.low <= measure.no_difference <= measure.high
