"""What a sentence says of who has more: groups against each other, measures against each other."""

import re
from collections.abc import Iterator
from math import log

from services.evaluator.domain.checks.significance import is_significant
from services.evaluator.domain.checks.wording import Wording
from services.evaluator.domain.checks.written_numbers import Unit
from services.evaluator.domain.subjects import measure_of
from shared.contracts import Subject

_MORE = (
    r"(?:more\s+(?:likely|often|frequent(?:ly)?|common(?:ly)?|apt|prone"
    r"|probable)|likelier|higher|greater|larger|bigger|elevated|increased"
    r"|exceed(?:s|ed)?|surpass(?:es|ed)?|ahead\s+of|above|over-?represented"
    r"|outscored?|outnumber(?:s|ed)?|more)"
)
_LESS = (
    r"(?:less\s+(?:likely|often|frequent(?:ly)?|common(?:ly)?|apt|prone"
    r"|probable)|lower|smaller|reduced|decreased|fewer|rarer|more\s+rarely"
    r"|behind|below|trail(?:s|ed)?|under-?represented|lag(?:s|ged)?|less)"
)
_COMP = rf"\b(?P<comp>{_LESS}|{_MORE})\b"
_GAP = r"[^.;<]*?"
_THAN = (
    r"(?:than|compared\s+(?:with|to)|relative\s+to|versus|vs\.?|as\s+against"
    r"|against|in\s+comparison\s+(?:with|to)|over)"
)
_G = r"(?:(?:it\s+(?:is|was)|they\s+(?:are|were)|those\s+of|that\s+of|that\s+for|those\s+for|for|among|in|of|by|the)\s+)*"
_VERB = (
    r"(?P<comp>exceeds?|exceeded|surpass(?:es|ed)?|outnumber(?:s|ed)?|outscored?"
    r"|outpaced?|outrank(?:s|ed)?|(?:is|are|was|were)\s+ahead\s+of|trail(?:s"
    r"|ed)?|lag(?:s|ged)?(?:\s+behind)?|fell\s+short\s+of|falls?\s+short\s+of|(?:is|are|was|were|fall|falls"
    r"|fell)\s+behind|(?:is|are|was|were|lies?)\s+(?:above|below))"
)
_FORMS = (
    re.compile(
        rf"<g(?P<x>[01])>(?P<not>{_GAP}){_COMP}(?P<what>[^;<]*?(?:<n\d+>[^;<]*?)?)\b{_THAN}\s+{_G}<g(?P<y>[01])>"
    ),
    re.compile(rf"<g(?P<x>[01])>(?P<not>{_GAP})\b{_VERB}\s+{_G}<g(?P<y>[01])>(?P<what>[^;<]*)"),
    re.compile(
        rf"{_COMP}(?P<what>[^;<]*?)\b(?:for|among|in|of|by"
        rf"|with)\s+(?:the\s+)?<g(?P<x>[01])>[^;<]*?{_THAN}\s+{_G}<g(?P<y>[01])>"
    ),
    re.compile(
        rf"(?:compared\s+(?:with|to)|relative\s+to|in\s+(?:contrast"
        rf"|comparison)\s+(?:with|to)|unlike|against|next\s+to"
        rf"|beside)\s+(?:the\s+)?<g(?P<y>[01])>[^;<]*?,\s*(?:the\s+)?<g(?P<x>[01])>(?P<not>{_GAP}){_COMP}(?P<what>[^;]*)"
    ),
    re.compile(rf"{_COMP}(?P<what>\s+)<g(?P<x>[01])>\s+than\s+(?:the\s+)?<g(?P<y>[01])>"),
    re.compile(
        rf"^(?:(?!<g).)*<g(?P<x>[01])>(?P<not>(?:(?!<g"
        rf"|<m)[^;,])*?){_COMP}(?P<what>(?:(?!<g)[^;])*)$"
    ),
    re.compile(
        rf"^(?:(?!<g).)*?(?<!<m:){_COMP}(?P<what>(?:(?!<g|<m)[^;])*?)\b(?:for|among"
        rf"|in|by|with)\s+(?:the\s+)?<g(?P<x>[01])>(?:(?!<g).)*$"
    ),
)
_COUNTS = re.compile(r"\boutnumber")
_AS_LIKELY = re.compile(
    r"<g(?P<x>[01])>(?P<not>[^;<]*?)<n(?P<n>\d+)>\s*(?:times\s+)?(?:as"
    r"|the)\s+(?P<what>[^;<]*?)(?:\bas\b|\bof\b|\bfor\b)\s+(?:those\s+of\s+"
    r"|that\s+of\s+|that\s+for\s+|the\s+|for\s+|among\s+)*<g(?P<y>[01])>"
)
_FEWER = re.compile(rf"^{_LESS}$|trail|lag|behind|below|short")
_QUANTITY = re.compile(
    r"likel|often|frequen|common|odds|rates?\b|shares?|proportion|probab|chance"
    r"|risk|percent|means?\b|averages?|scores?|ratings?|represented|number"
    r"|rarely|rarer|apt|prone|outnumber|outscore|receiv|sentence|exceed|surpass"
    r"|share"
)
_PRECISION = re.compile(
    r"interval|p-?\s*value|bound|limit|precis|confidence|uncertain|width|sample|evidence|cases\b"
)
_NEGATED = re.compile(r"\b(?:not|no|never|neither|nor|hardly|cannot|\w+n[\u2019']t)\b")
_BAD = (
    r"\b(?:reject\w*|refus\w*|den(?:y|ied|ial)\w*|turned?\s+(?:down|away)"
    r"|declin\w*|unsuccessful\w*|fail\w*|convict\w*|arrest\w*|sentenc\w*|strike"
    r"|dismiss\w*|detain\w*|toxic\w*|default\w*|harm\w*|error\w*|fired|fined"
    r"|excluded)\b"
)
_GOOD = (
    r"\b(?:admi(?:t\w*|ssion\w*)|hir(?:ed|ing)|accept\w*|approv\w*|select\w*"
    r"|grant\w*|promot\w*|pass(?:ed|es)?|award\w*|interview\w*|shortlist\w*"
    r"|offer\w*|successful\w*|chosen)\b"
)
_WITHOUT = re.compile(
    r"\b(?:not\s+(?:to\s+)?(?:be|get|receive)|not\s+to|without|avoid\w*|escap\w*"
    r"|spared|miss\s+out)\b"
)
_FAVOURS = re.compile(
    r"\b(?P<verb>(?:dis)?(?:favou?r|advantage)\w*|benefit\w*|in\s+favou?r\s+of"
    r"|to\s+the\s+(?:dis)?advantage\s+of|to\s+the\s+detriment\s+of|penali[sz]\w*"
    r"|against)\s+(?:the\s+)?<g(?P<x>[01])>"
)
_DISFAVOURS = re.compile(r"disfavou?r|disadvantage|detriment|penali|against")
_OF_MEASURES = re.compile(
    rf"<m:(?P<a>[\w-]+)>(?P<not>[^;<]*?){_COMP}[^;<]*?(?:{_THAN}\s+)?(?:those\s+of\s+"
    rf"|that\s+of\s+|the\s+|its\s+)*<m:(?P<b>[\w-]+)>"
)
_TURNED = re.compile(
    r"\b(?:revers\w+|turns?\s+(?:round|around)|turned\s+(?:round|around)|flips?"
    r"|flipped|opposite|changes?\s+(?:its\s+)?(?:sign|direction)|other\s+way)\b"
)
_KEPT = re.compile(
    r"\b(?:same\s+direction|persists?|remains?|holds?|unchanged"
    r"|keeps?\s+its\s+direction|points?\s+the\s+same\s+way)\b"
)
_WEAKER = re.compile(
    r"\b(?:weaker|weakens?|shrinks?|attenuated?s?|closer\s+to\s+(?:<n\d+>|1|one))\b"
)
_STRONGER = re.compile(r"\b(?:stronger|strengthens?|grows?|further\s+from\s+(?:<n\d+>|1|one))\b")
_STRATA = re.compile(
    r"\bstrat(?:a|um|ified|ification)\b|<m:odds_ratio_within>|<m:cmh>"
    r"|\bwithin\s+(?:each|every|single|the|departments?)\b|\bsimpson"
)


def direction_faults(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault where a group is said to have more that has less, or is favoured."""
    truth = _sign(wording, subject)
    if truth is not None:
        for claimed, denied, counts in _claims(wording, subject):
            real = _count_sign(subject) if counts else {truth}
            if not real:
                continue
            if not denied and claimed not in real:
                yield "direction", "The groups are compared the wrong way round."
                return
            if denied and claimed in real and is_significant(subject, None, wording.pattern):
                yield "direction", "A difference is denied that the statistics show."
                return
        yield from _favoured(wording, subject, truth)


def measure_faults(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault where two measures, or the table and its strata, are compared wrongly."""
    for found in _OF_MEASURES.finditer(wording.pattern):
        a, b = (measure_of(subject, found[side]) for side in "ab")
        if (
            not a
            or not b
            or a.value is None
            or b.value is None
            or a.no_difference != b.no_difference
        ):
            continue
        if _PRECISION.search(found["not"]) or _NEGATED.search(found["not"]):
            continue
        more = not re.fullmatch(_LESS, found["comp"])
        if (a.value > b.value) is not more and a.value != b.value:
            yield "direction", f"The {a.label} and the {b.label} are compared the wrong way round."
    yield from _strata(wording, subject)


def _strata(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    both = (measure_of(subject, name) for name in ("odds_ratio", "odds_ratio_within"))
    values = [each.value for each in both if each and each.value and each.value > 0]
    if len(values) < 2 or not _STRATA.search(wording.pattern):
        return
    pattern = wording.pattern
    crude, within = map(log, values)
    turned, weaker = crude * within < 0, abs(within) < abs(crude)
    for words, true in (
        (_TURNED, turned),
        (_KEPT, not turned),
        (_WEAKER, weaker),
        (_STRONGER, not weaker),
    ):
        found = words.search(pattern)
        if (
            found
            and bool(_NEGATED.search(pattern[max(0, found.start() - 30) : found.start()])) is true
        ):
            yield "strata", "What strata change is not what the statistics say."
            return


def _claims(wording: Wording, subject: Subject) -> Iterator[tuple[int, bool, bool]]:
    """Return the sign of first minus second group that is said, whether denied, whether of counts."""
    for found in _AS_LIKELY.finditer(wording.pattern):
        number = wording.numbers[int(found["n"])]
        if number.unit is Unit.TIMES or number.unit is Unit.PLAIN:
            yield _turned(1 if number.value > 1 else -1, found, subject), False, False
            return
    for form in _FORMS:
        for found in form.finditer(wording.pattern):
            said = found.groupdict()
            if said.get("y") == said["x"]:
                continue
            before = said.get("not") or ""
            ahead = found.string[: found.start("comp")][-60:]
            everything = f"{ahead} {found['comp']} {said.get('what') or ''}"
            counts = form is _FORMS[4] or bool(_COUNTS.search(found["comp"]))
            if not counts and not _QUANTITY.search(everything):
                continue
            if _PRECISION.search(before + (said.get("what") or "")[:40]) or "<m:" in before:
                continue
            more = -1 if _FEWER.search(found["comp"]) else 1
            denied = bool(_NEGATED.search(before[-40:]))
            yield _turned(more, found, subject), denied, counts
            return


def _turned(more: int, found: re.Match[str], subject: Subject) -> int:
    """Return a claim as the sign of the first minus the second group, for the outcome counted."""
    what = found.groupdict().get("what") or ""
    tail = found.string[
        found.end("comp") if "comp" in found.groupdict() else found.start() : found.end() + 40
    ]
    sign = more if found["x"] == "0" else -more
    said = (
        tail if "comp" in found.groupdict() else what + found.string[found.end() : found.end() + 40]
    )
    return -sign if _is_opposite(said, subject) else sign


def _is_opposite(said: str, subject: Subject) -> bool:
    """Whether what is said is the opposite of the outcome that was counted."""
    outcome = _valence(f"{subject.outcome} {subject.value}".lower())
    opposite = bool(_WITHOUT.search(said))
    mentioned = _valence(said)
    if mentioned and outcome:
        return (mentioned != outcome) is not opposite
    return opposite


def _valence(words: str) -> int:
    bad, good = (len(re.findall(pattern, words)) for pattern in (_BAD, _GOOD))
    return 0 if bool(bad) is bool(good) else (1 if good else -1)


def _favoured(wording: Wording, subject: Subject, truth: int) -> Iterator[tuple[str, str]]:
    outcome = _valence(f"{subject.outcome} {subject.value}".lower())
    for found in _FAVOURS.finditer(wording.pattern):
        if not outcome or (
            found["verb"] == "against"
            and not re.search(r"disparit|bias|works|discriminat", wording.pattern)
        ):
            continue
        if _NEGATED.search(wording.pattern[max(0, found.start() - 40) : found.start()]):
            continue
        sign = 1 if found["x"] == "0" else -1
        favoured = -sign if _DISFAVOURS.search(found["verb"]) else sign
        if favoured * outcome != truth:
            yield "direction", "The group that is said to be favoured is the other one."
            return


def _sign(wording: Wording, subject: Subject) -> int | None:
    """Return the sign of first minus second group, within strata where the sentence says so."""
    if _STRATA.search(wording.pattern) and (within := measure_of(subject, "odds_ratio_within")):
        return _of(within.value, 1.0)
    for name, neutral in (("relative_risk", 1.0), ("odds_ratio", 1.0), ("gap", 0.0)):
        if found := measure_of(subject, name):
            return _of(found.value, neutral)
    return None


def _of(value: float | None, neutral: float) -> int | None:
    return None if value is None else (value > neutral) - (value < neutral)


def _count_sign(subject: Subject) -> set[int]:
    """Return the signs that a comparison of counts may have: of those with the outcome, or of all."""
    if len(subject.counts) != 4:
        return set()
    a, b, c, d = subject.counts
    return {(a > c) - (a < c), (a + b > c + d) - (a + b < c + d), (b > d) - (b < d)}
