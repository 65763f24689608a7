"""What a sentence says of evidence: significance, intervals and the value of no difference."""

import re
from collections.abc import Iterator

from services.evaluator.domain.checks.wording import Wording
from services.evaluator.domain.subjects import measure_of
from shared.contracts import Measure, Subject

_CLAUSES = re.compile(r";|,?\s+\b(?:but|whereas|while|although|though|however|yet)\b|,\s+and\b")
_NEGATION = (
    r"\b(?:not|no|never|neither|nor|cannot|without|fails?\s+to|failed\s+to"
    r"|insufficient|too\s+little|little|lacks?|lacking|hardly|non|absence\s+of"
    r"|\w+n[\u2019']t)\b"
)
_NEGATED = re.compile(_NEGATION + r"(?:[\s-]+(?!<m:)[\w<>:-]+){0,6}[\s-]*$")
_SIGNIFICANT = re.compile(
    r"\bsignifican(?:t(?:ly)?|ce)\b(?!\s+(?:level|threshold|test|testing))"
    r"|\b(?:evidence|proof|sign|indication)\s+(?:of|for|that|against)\b"
    r"(?!\s+(?:absence|equality|no\b))"
    r"|\brejects?(?:ed)?\b(?=[^.;]{0,40}\b(?:null|hypothesis|equality"
    r"|independence)\b)"
    r"|\brejection\s+of\s+(?:the\s+)?(?:null|hypothesis)"
    r"|\bbeyond\s+(?:what\s+)?(?:pure\s+|mere\s+)?chance\b"
    r"|\b(?:un|not\s+)likely\s+(?:to\s+(?:be|have\s+\w+|arise"
    r"|occur)\s+)?(?:\w+\s+){0,3}(?:due\s+to|by|from|of"
    r"|down\s+to)\s+(?:\w+\s+)?chance\b"
    r"|\b(?:cannot|can\s+hardly|hard\s+to)\s+(?:\w+\s+){0,3}(?:explain(?:ed)?"
    r"|put\s+down|ascribe[d]?|attribute[d]?)\s+(?:\w+\s+){0,3}chance\b"
    r"|\bchance\s+(?:alone\s+)?(?:cannot|does\s+not|is\s+unlikely\s+to"
    r"|would\s+(?:rarely|seldom|hardly))\b"
    r"|\b(?:is|are|was|were|falls?|lies?|stays?|remains?|well)\s+(?:well\s+"
    r"|far\s+|clearly\s+)?(?:below|under|smaller\s+than"
    r"|less\s+than)\s+(?:the\s+)?(?:usual\s+|chosen\s+"
    r"|conventional\s+)?(?:<n\d+>\s+)?(?:significance\s+)?(?:level|threshold"
    r"|alpha|cut-?off)"
)
_INSIGNIFICANT = re.compile(
    r"\binsignificant\b|\bnon-?\s?significant\b|\binconclusive\b|\b(?:fails?"
    r"|failed|does\s+not|did\s+not|do\s+not)\s+(?:to\s+)?(?:reach|attain|achieve"
    r"|meet)\b[^.;]{0,30}\b(?:significance|threshold|level)"
    r"|\b(?:can|could|may|might|likely|plausibly|easily"
    r"|well)\s+(?:\w+\s+){0,4}(?:by|from|of|to|as"
    r"|with)\s+(?:\w+\s+){0,2}chance\b"
    r"|\b(?:consistent|compatible|in\s+line)\s+with\s+(?:pure\s+"
    r"|mere\s+)?(?:chance|no\s+(?:difference|association|effect|disparity)"
    r"|equality)\b"
    r"|\bchance\s+(?:alone\s+)?(?:can|could|may|might)\s+(?:well\s+"
    r"|easily\s+)?(?:explain|account|produce)"
    r"|\b(?:is|are|was|were|lies?|stays?|remains?|exceeds?)\s+(?:well\s+|far\s+"
    r"|clearly\s+)?(?:above|over|larger\s+than|greater\s+than"
    r"|higher\s+than)?\s*(?:the\s+)?(?:usual\s+|chosen\s+"
    r"|conventional\s+)(?:<n\d+>\s+)?(?:significance\s+)?(?:level|threshold"
    r"|alpha|cut-?off)"
    r"|\b(?:above|exceeds?|over|larger\s+than"
    r"|greater\s+than)\s+(?:the\s+)?(?:<n\d+>\s+)?(?:significance\s+)?(?:level"
    r"|threshold|alpha|cut-?off)"
)
_EQUALITY = re.compile(
    r"\b(?:shows?|showed|proves?|proved|demonstrates?|confirms?|establish\w*"
    r"|conclude[sd]?|clear|certain|evidence)\s+(?:that\s+"
    r"|of\s+)?(?:there\s+(?:is|was)\s+)?"
    r"(?:no\s+(?:difference|disparity|association|gap|bias|link|relationship"
    r"|inequality)|equality|the\s+(?:two\s+)?groups\s+(?:are|were"
    r"|fare)\s+(?:\w+\s+)?(?:equal|alike|the\s+same|identical)"
    r"|<g[01]>\s+and\s+<g[01]>\s+(?:are|were|fare)\s+(?:\w+\s+)?(?:equal|alike"
    r"|the\s+same|identical))"
    r"|\b(?:there\s+is|there\s+was)\s+no\s+(?:difference|disparity|gap|inequality)\b"
    r"|\b(?:<g[01]>\s+and\s+<g[01]>|the\s+(?:two\s+)?groups)\s+(?:are"
    r"|were)\s+(?:treated\s+)?(?:equal(?:ly)?|alike|the\s+same"
    r"|identical(?:ly)?)\b"
)
_GENERAL = re.compile(
    r"^(?:if|when|whether|in\s+general)\b|\b(?:a"
    r"|any)\s+p-?\s*value\s+(?:\w+\s+){0,3}(?:below|under|less|says|tells"
    r"|is\s+the|shows\s+how|measures)|\bwould\s+(?:be|count|mean)\b"
    r"|\bpractical(?:ly)?\b|\bsubstantive\b|\basks?\s+whether\b"
    r"|\btests?\s+whether\b"
)
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
_HOLDS = re.compile(rf"\b(?P<verb>{_INCLUDES}|{_EXCLUDES})\s+(?:the\s+)?(?:{_NO_DIFFERENCE})")
_SIDE = re.compile(
    rf"\b(?P<side>above|over|greater\s+than|larger\s+than|higher\s+than|beyond"
    rf"|below|under|less\s+than|smaller\s+than|lower\s+than"
    rf"|exceeds?)\s+(?:{_NO_DIFFERENCE})"
)
_WHOLE = re.compile(
    r"\binterval|\bbounds?\b|\blimits?\b|\bci\b|\brange|\bentire|\bwholly"
    r"|\bwhole\b|\bcompletely|\bboth\s+ends|\bends\b"
)
_TOLD = re.compile(r"\binterval|\bci\b|\brange|\bbounds?|\blimits?|\bit\b|\bwhich\b|\bboth\b")


def significance_faults(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault for evidence that is claimed and not there, or there and denied."""
    if _GENERAL.search(wording.pattern):
        return
    start = 0
    for clause in [*_CLAUSES.split(wording.pattern)]:
        at = wording.pattern.find(clause, start)
        start = at + len(clause)
        measure = _named(clause) or _named_before(wording.pattern[:at])
        truth = is_significant(subject, measure, clause)
        claimed = _claimed(clause)
        if (
            claimed is None
            and truth is False
            and not _decided_equal(subject)
            and _EQUALITY.search(clause)
        ):
            yield (
                "significance",
                "Equality is claimed, but what is not shown is not thereby disproved.",
            )
        elif claimed is None and truth and _EQUALITY.search(clause):
            yield "significance", "A difference is denied that the statistics show."
        elif claimed is not None and truth is not None and claimed is not truth:
            said = (
                "claimed, but the test does not show it"
                if claimed
                else "denied, but the test shows it"
            )
            yield "significance", f"Significance is {said}."


def interval_side_faults(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault where an interval or an estimate lies elsewhere than is said."""
    pattern = wording.pattern
    for found in _HOLDS.finditer(pattern):
        if not _is_neutral(found, wording) or not _TOLD.search(pattern[: found.start()] + " it"):
            continue
        negated = bool(_NEGATED.search(pattern[: found.start()]))
        includes = bool(re.match(_INCLUDES, found["verb"])) is not negated
        for measure in _meant(wording, subject, found.start()):
            actual = _includes(measure)
            if actual is not None and actual is not includes:
                said = "does not contain" if includes else "contains"
                yield (
                    "interval",
                    f"The interval of the {measure.label} {said} the value of no difference.",
                )
                break
    for found in _SIDE.finditer(pattern):
        if _is_neutral(found, wording):
            yield from _side(found, wording, subject)


def _side(found: re.Match[str], wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    before = wording.pattern[: found.start()]
    negated = bool(_NEGATED.search(before))
    above = bool(re.match(r"above|over|great|larg|high|beyond|exceed", found["side"]))
    whole = bool(_WHOLE.search(before)) and not re.search(r"\bestimates?\b|\bpoint\b", before)
    for measure in _meant(wording, subject, found.start()):
        ends = (measure.low, measure.high) if whole else (measure.value, measure.value)
        if re.search(r"\blower\s+(?:bound|limit|end)[^.;]*$", before):
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


def _includes(measure: Measure) -> bool | None:
    if measure.low is None or measure.high is None or measure.no_difference is None:
        return None
    return measure.low <= measure.no_difference <= measure.high


def is_significant(subject: Subject, name: str | None, clause: str = "") -> bool | None:
    """Return whether a measure's test, its interval, or else the subject's own test shows anything."""
    if name is None and re.search(r"\bstrat(?:a|um|ified)\b", clause):
        name = "cmh"
    if name is not None and (measure := measure_of(subject, name)):
        if measure.p_value is not None:
            return measure.p_value < subject.alpha
        includes = _includes(measure)
        if includes is not None:
            return not includes
    tests = [m for m in subject.measures if m.p_value is not None]
    return tests[0].p_value < subject.alpha if tests and tests[0].p_value is not None else None


def _decided_equal(subject: Subject) -> bool:
    return any("no disparity beyond the tolerance" in note for note in subject.notes)


def _claimed(clause: str) -> bool | None:
    if _INSIGNIFICANT.search(clause):
        negated = _NEGATED.search(clause[: _INSIGNIFICANT.search(clause).start()])  # type: ignore[union-attr]
        return bool(negated)
    for found in _SIGNIFICANT.finditer(clause):
        return not _NEGATED.search(clause[: found.start()])
    return None


def _named(clause: str) -> str | None:
    found = re.findall(r"<m:([\w-]+)>", clause)
    return found[0] if found else None


def _named_before(text: str) -> str | None:
    found = re.findall(r"<m:([\w-]+)>", text)
    return found[-1] if found else None
