"""What a sentence says of evidence: that a test shows something, or that it does not."""

import re
from collections.abc import Iterator

from services.evaluator.domain.checks.denials import NEGATED
from services.evaluator.domain.checks.interval_sides import includes_no_difference
from services.evaluator.domain.checks.wording import Wording
from services.evaluator.domain.subjects import measure_of
from shared.contracts import Subject

_CLAUSES = re.compile(r";|,?\s+\b(?:but|whereas|while|although|though|however|yet)\b|,\s+and\b")
_MARK = (
    r"(?:the\s+|this\s+|that\s+|its\s+)?(?:usual\s+|conventional\s+|customary\s+)?(?:<n\d+>\s+)?"
    r"(?:mark|hurdle|bar|standard|threshold|test\s+of\s+significance|statistical\s+significance)\b"
)
_SIGNIFICANT = re.compile(
    r"\bsignifican(?:t(?:ly)?|ce)\b(?!\s+(?:level|threshold|test|testing))"
    r"|\b(?:evidence|proof|sign|indication)\s+(?:of|for|that|against)\b"
    r"(?!\s+(?:absence|equality|no\b|discriminat|bias|an?\s+(?:cause|effect)|cause|effect))"
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
    rf"|\b(?:clears?|cleared|pass(?:es|ed)?|meets?|met|reach(?:es|ed)?|attains?)\s+{_MARK}"
    r"|\b(?:equality|independence|hypothesis|null)\b[^;]{0,60}?\b(?:be|been|was|is|were|to)\s+(?:not\s+|never\s+)?rejected\b"
    r"|\b(?:untenable|implausible|detectable)\b|\bspeaks?\s+against\s+(?:independence|equality)\b"
    r"|\b(?:larger|wider|bigger|greater|more)\s+than\s+(?:pure\s+|mere\s+)?chance\s+(?:alone\s+)?would\b"
    r"|\bchance\s+is\s+an?\s+(?:unlikely|implausible|poor|improbable)\s+explanation\b"
    r"|\brul(?:e|es|ed|ing)\s+out\b[^;]{0,50}\b(?:unrelated|independent|equal|chance)\b"
    r"|\bholds?\s+up\b|\blittle\s+doubt\b|\bcounts?\s+as\s+evidence\b"
    r"|\b(?:unusual|rare|improbable|exceptional|surprising)\b(?=[^;]*\b(?:if|were|was)\b)"
    r"|\bwould\s+be\s+(?:an?\s+)?(?:unusual|rare|improbable)\b"
    r"|\b(?:less|fewer|rarer)\s+than\s+(?:one\s+(?:time\s+)?in\s+twenty|<n\d+>\s+of\s+(?:all\s+)?(?:samples|times))"
    r"|\bin\s+fewer\s+than\s+<n\d+>\s+of\b|\bon\s+the\s+significant\s+side\b|\b(?:exceeds?|above)\s+its\s+critical\b"
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
_UNDER_NULL = re.compile(r"\b(?:unusual|rare|improbable|surprising)\b")
"""What would be so if there were no difference says something of the data."""
_MORE_INSIGNIFICANT = re.compile(
    rf"\b(?:misses|missed|fails?|failed|fall(?:s|ing)?\s+short\s+of|fell\s+short\s+of|short\s+of)\s+{_MARK}"
    r"|\bnothing\s+(?:unusual|rare|out\s+of\s+the\s+ordinary)\b|(?<!un)\btenable\b"
    r"|\bchance\s+is\s+a\s+(?:\w+\s+)?(?:possible|plausible|likely|sufficient)\s+explanation\b"
    r"|\bleaves?\s+(?:it\s+)?open\s+whether\b"
    r"|\b(?:more|greater)\s+than\s+(?:one\s+(?:time\s+)?in\s+twenty|<n\d+>\s+of\s+(?:all\s+)?(?:samples|times))"
    r"|\bin\s+more\s+than\s+<n\d+>\s+of\b|\bon\s+the\s+wrong\s+side\b"
    r"|\b(?:is|was)\s+over\s+<n\d+>|\bcame\s+back\s+negative\b|\bsignificant\b[^;]{0,12}:\s*no\b|\bn\.\s?s\.|\bbelow\s+its\s+critical\b"
    r"|\bcompatible\b[^;]{0,30}\bwith\s+(?:independence|equality|chance|no\s)"
    r"|\b(?:hypothesis|independence|equality)\b[^;]{0,30}?\bsurvives?\b"
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
    r"^(?:if|when|whether|in\s+general)\b|\b(?<!with\s)(?:a"
    r"|any)\s+p-?\s*value\s+(?:\w+\s+){0,3}(?:below|under|less|says|tells"
    r"|is\s+the|shows\s+how|measures)|\bwould\s+(?:be|count|mean)\b"
    r"|\bpractical(?:ly)?\b|\bsubstantive\b|\basks?\s+whether\b"
    r"|\btests?\s+whether\b"
)


def significance_faults(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault for evidence that is claimed and not there, or there and denied."""
    if _GENERAL.search(wording.pattern) and not _UNDER_NULL.search(wording.pattern):
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


def speaks_of_evidence(wording: Wording) -> bool:
    """Whether a sentence is read as saying that something is shown, or is not."""
    clauses = _CLAUSES.split(wording.pattern)
    return any(_claimed(each) is not None or _EQUALITY.search(each) for each in clauses)


def is_significant(subject: Subject, name: str | None, clause: str = "") -> bool | None:
    """Return whether a measure's test, its interval, or else the subject's own test shows anything."""
    if name is None and re.search(r"\bstrat(?:a|um|ified)\b", clause):
        name = "cmh"
    if name is not None and (measure := measure_of(subject, name)):
        if measure.p_value is not None:
            return measure.p_value < subject.alpha
        includes = includes_no_difference(measure)
        if includes is not None:
            return not includes
    tests = [m for m in subject.measures if m.p_value is not None]
    return tests[0].p_value < subject.alpha if tests and tests[0].p_value is not None else None


def _decided_equal(subject: Subject) -> bool:
    return any("no disparity beyond the tolerance" in note for note in subject.notes)


def _claimed(clause: str) -> bool | None:
    clause = _IDLE.sub(" ", clause)
    flipped = len(_FLIPS.findall(clause)) % 2 == 1
    if found := _MORE_INSIGNIFICANT.search(clause) or _INSIGNIFICANT.search(clause):
        inside = re.search(r"\b(?:not|never)\b", found[0])
        denied = bool(NEGATED.search(clause[: found.start()]) or (inside and "surviv" in found[0]))
        return denied is not flipped
    for found in _SIGNIFICANT.finditer(clause):
        within = re.search(r"\b(?:not|cannot|never)\b", found[0])
        behind = _DENIED_BEHIND.match(clause, found.end())
        denied = bool(NEGATED.search(clause[: found.start()]) or within or behind)
        return denied is flipped
    return None


_FLIPS = re.compile(
    r"\b(?:cannot|can\s+not|could\s+not)\s+be\s+(?:said|claimed|maintained)\s+that\b"
    r"|\bwrong\s+to\s+(?:call|say|speak)\b"
)
_DENIED_BEHIND = re.compile(r"\s+(?:was|is|were|has|had)\s+(?:not|never)\b")
# "cannot be said that it failed" says that it did not fail; "not only" denies nothing.
_IDLE = re.compile(r"\bnot\s+(?:only|merely|just)\b|\bleaves?\s+no\s+doubt\b|\bno\s+doubt\b")


def _named(clause: str) -> str | None:
    found = re.findall(r"<m:([\w-]+)>", clause)
    return found[0] if found else None


def _named_before(text: str) -> str | None:
    found = re.findall(r"<m:([\w-]+)>", text)
    return found[-1] if found else None
