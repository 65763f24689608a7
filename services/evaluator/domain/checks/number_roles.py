"""What the words around a number say it is: an estimate, a bound, a p-value, a count, a share."""

import re

from services.evaluator.domain.checks.facts import NumberRole
from services.evaluator.domain.checks.fixed_numbers import COARSE, fixed_role
from services.evaluator.domain.checks.wording import Wording
from services.evaluator.domain.checks.written_numbers import Unit, WrittenNumber, starts_of

INTERVAL = re.compile(
    r"\b(?:interval|ci|range[sd]?|ranging|limits?|bounds?|between|from|extend\w*"
    r"|span\w*|stretch\w*"
    r"|runs?|goes|reach\w*|lies|low(?:er)?)\b",
    re.IGNORECASE,
)
_JOIN = re.compile(
    r"\s*[)\]]?\s*(?:,|;|to|and|up\s+to|through|until|\u2013|\u2014|-|\.\.+)\s*"
    r"(?:an?\s+|the\s+)?(?:upper\s+(?:bound|limit|end)\s*(?:of|at|is)?\s*)?",
    re.IGNORECASE,
)
_BRACKET, _CLOSED = re.compile(r"[(\[]\s*$"), re.compile(r"\s*[)\]]")
_LINK = (
    r"[\s:,(=~\u2248]*(?:(?:of|is|was|at|about|around|approximately|roughly"
    r"|equals?|equal\s+to|being|stands\s+at|comes\s+to|to)\b[\s:(=~\u2248]*)*"
)
_LOWER = re.compile(
    rf"\b(?:lower|low|smallest|left)[\s-]*(?:confidence\s+)?(?:bound|limit|end"
    rf"|endpoint|one)?(?:\s+(?:of|for)\s+[^.;,0-9]{{0,50}}?)?{_LINK}$"
    r"|\b(?:start|begin)s?\s+at\s*$|(?<!least\s)\bas\s+(?:low|small|little)\s+as\s*$"
    r"|\b(?:on|at)\s+(?:the|its)\s+(?:low|lower|bottom|left)\s+end\b[^.;,0-9]{0,50}$",
    re.IGNORECASE,
)
_UPPER = re.compile(
    rf"\b(?:upper|high|largest|right)[\s-]*(?:confidence\s+)?(?:bound|limit|end"
    rf"|endpoint|one)?(?:\s+(?:of|for)\s+[^.;,0-9]{{0,50}}?)?{_LINK}$"
    r"|\b(?:end|stop)s?\s+(?:at|until)\s*$|(?<!least\s)\bas\s+(?:high|large|great|much)\s+as\s*$"
    r"|\b(?:on|at)\s+(?:the|its)\s+(?:high|higher|upper|top|right)\s+end\b[^.;0-9]{0,50}$",
    re.IGNORECASE,
)
_P = re.compile(
    r"(?:\bp(?:\s*-?\s*values?)?|\bprobability\s+value)(?![\w-])[^.;0-9]{0,60}$", re.IGNORECASE
)
_P_AFTER = re.compile(
    r"[\s(]*(?:as\s+(?:its|the)\s+)?p(?:\s*-?\s*value)?\b(?!\s*(?:[=<>:,~]|of\b"
    r"|is\b|was\b|value))",
    re.IGNORECASE,
)
_LEVEL_BEFORE = re.compile(
    rf"\b(?:level|alpha|\u03b1|threshold|cut-?off|significance|criterion|standard"
    rf"|benchmark)\b{_LINK}$",
    re.IGNORECASE,
)
_LEVEL_AFTER = re.compile(
    r"[\s-]*(?:(?:two-sided\s+)?(?:confiden(?:ce|t)|significance|credible"
    r"|uncertainty)\b|(?:level|alpha|threshold|cut-?off|mark|ci|interval|range"
    r"|limits?|bounds?|(?:lower|upper)(?=\s+(?:bound|limit|confidence|end)))\b)",
    re.IGNORECASE,
)
_NEUTRAL_BEFORE = re.compile(
    r"\b(?:includ\w*|contain\w*|exclud\w*|enclos\w*|bracket\w*|captur\w*|embrac\w*|admit\w*|permit\w*|cover\w*|cross\w*|span\w*|straddl\w*"
    r"|encompass\w*|overlap\w*|reach\w*|touch\w*"
    r"|above|below|over|under|exceed\w*|than|beyond|from|null|parity|equality"
    r"|rules?\s+out|side\s+of|sides\s+of"
    r"|value\s+of|around|past|through|against|with|to|of|no\s+effect|clear\s+of|away\s+from|out)"
    r"(?:\s+(?:the|a|value|of|null|parity|equality|line|reference|at|by|neutral"
    r"|point|mark))*[\s(,:]*$",
    re.IGNORECASE,
)
_NEUTRAL_AFTER = re.compile(
    r"[\s),]*(?:,\s*)?(?:which\s+|and\s+)?(?:would|means?|meaning|is|being"
    r"|marks?|stands\s+for|\(?the\s+value|indicat\w*|\(?no\b|corresponds?|line)",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\s*(?:\w+\s+)?(?:higher|lower|more|less|greater|larger|smaller|fewer"
    r"|increase|decrease|reduction|rise|drop|above|below)\b",
    re.IGNORECASE,
)
_CHANGE_BEFORE = re.compile(
    r"\b(?:increase[sd]?|decrease[sd]?|reduc\w+|rise[sn]?|rose|raise[sd]?|cut|higher|greater|larger|smaller|bigger"
    r"|less|more|fewer|down|up|diminished|elevated|lowered|exceed\w*|differ\w*|lower)\s+(?:\w+\s+){0,2}by\s*(?:about|around)?\s*$"
    r"|\b(?:increase|decrease|reduction|rise|drop|fall|decline|gain|cut|excess)\s+(?:in\s+(?:the\s+)?\w+\s+)?of\s+(?:about\s+|around\s+|some\s+)?$",
    re.IGNORECASE,
)
RATE = re.compile(
    r"\b(?:rates?|shares?|proportions?|percentages?|fractions?|probabilit\w+"
    r"|chances?|risks?(?!\s+(?:ratio|difference))|odds(?!\s+ratio)|likelihood)\b",
    re.IGNORECASE,
)
_FREEDOM = re.compile(r"\s*degrees?\s+of\s+freedom|\s*d\.?f\.?\b", re.IGNORECASE)
_FREEDOM_BEFORE = re.compile(rf"\b(?:d\.?f\.?|degrees?\s+of\s+freedom){_LINK}$", re.IGNORECASE)
_THRESHOLD = re.compile(
    r"rule|threshold|four[\s-]fifths|guideline|benchmark|cut-?off|regulator|customary|conventional|held\s+against",
    re.IGNORECASE,
)
_LEAST = re.compile(
    r"fewest|minimum|at\s+least|needs?|needed|requir\w*|threshold|recommended|floor|least",
    re.IGNORECASE,
)
_APPROXIMATE = re.compile(
    r"\b(?:estimates?|ratio|risk|value|statistic|about|roughly|approximately"
    r"|nearly|almost|difference|size|is|was|of)\b[\s(]*$",
    re.IGNORECASE,
)
_TOTAL_AFTER = re.compile(
    r"\s*(?:\w+\s+){0,2}?(?:cases|people|persons|observations|records|individuals|participants"
    r"|applicants)?,?\s*(?:in\s+all|in\s+total|altogether|together|overall|combined)\b",
    re.IGNORECASE,
)
_TOTAL_BEFORE = re.compile(
    r"\b(?:total\s+of|all\s+told,?|(?:^|[.;]\s*)cases\s*[:=]|drew\s+on|(?-i:\bN)\s*=|in\s+total,?|(?:sample|total)\s+(?:size\s+)?(?:of|is)|people\s+of|cases\s+of|out\s+of\s+all)\s*$",
    re.IGNORECASE,
)
_OF_ALL = re.compile(r"\b(?:(?:of|among)\s+(?:the|all|all\s+the)|from)\s*$", re.IGNORECASE)
_CASES = re.compile(
    r"\s*(?:cases|files|people|persons|observations|records|individuals|participants|applicants)\b"
    r"(?!\s+(?:with|without|that|who))",
    re.IGNORECASE,
)
_CHANCE = re.compile(
    r"\bprobability\b[^;]*\b(?:chi|hypothesis|independen\w+|unrelated|chance|(?:made|make|was|were|is|be)\s+no\s+(?:true\s+|real\s+)?(?:difference|association|effect|link)|by\s+luck)"
    r"|\b(?:no|without\s+any)\s+(?:true\s+|real\s+|actual\s+|underlying\s+)*(?:difference|association|effect|link|relationship)\b[^;]*\b(?:probability|chance|likelihood|times\s+in)\b"
    r"|\b(?:hypothesis|independen\w+|unrelated|chance\s+alone)\b[^;]*\bprobability\b"
    r"|\b(?:if|were|was|had|assum\w+|suppos\w+|under|given|imagin\w+|in\s+a\s+world|where)\b[^;]*\b(?:equal\w*|alike|no\s+(?:true\s+|real\s+)?(?:difference|association|effect|link)"
    r"|unrelated|independen\w+|null|identical|nothing\s+(?:but|was|is|were|going)|not\s+differ|chance)\b[^;]*\b(?:samples?|times?|cases|tables|datasets?|studies|repetitions|probability|chance|likelihood|turn\s+up|arise|occur|happen|appear)",
    re.IGNORECASE,
)
_OF_SAMPLES = re.compile(
    r"\s+(?:of|in)\s+(?:all\s+|such\s+|the\s+|repeated\s+|random\s+|hypothetical\s+)*(?:samples?|times?|tables|datasets?|data\s+sets|studies|repetitions|replications|experiments|draws|surveys|occasions)\b",
    re.IGNORECASE,
)
_NO_INTERVAL = re.compile(r"\b(?:respectively|rates?)\b", re.IGNORECASE)
_SAMPLE = re.compile(
    r"\bsample|\bof\s+(?:all|the)\s+(?:\d+\s+)?cases|m(?:ade|ake)\s+up"
    r"|account\w*\s+for|compris|consist",
    re.IGNORECASE,
)
_LACKS = re.compile(
    r"\s*(?:[\w<>]+\s+){0,3}?(?:(?:did|were|was|had|do|are)\s+not|without|lacked|lacks?"
    r"|didn't|weren't)\b|\s*no\b(?!\s+(?:fewer|less|more))",
    re.IGNORECASE,
)
_HAS = re.compile(
    r"\s*(?:[\w<>]+\s+){0,3}?(?:had\s+(?:the|this|that)\s+outcome|did\b(?!\s+not))", re.IGNORECASE
)
_LOW_AFTER = re.compile(
    r"\s*(?:\(?(?:the\s+)?lower(?=\))|as\s+(?:the|its)\s+lower|below|at\s+the\s+(?:bottom|lower\s+end))\b",
    re.IGNORECASE,
)
_HIGH_AFTER = re.compile(
    r"\s*(?:\(?(?:the\s+)?upper(?=\))|as\s+(?:the|its)\s+upper|above|at\s+the\s+(?:top|upper\s+end))\b",
    re.IGNORECASE,
)
_BOUNDS = re.compile(r"\bbounds?\b|\blimits?\b|\bends?\b", re.IGNORECASE)
_MULTIPLIED = re.compile(
    r"\b(?:multipl\w+\b[^.;]{0,40}\bby|(?:a|the)\s+factor\s+(?:of|is|was))\s+(?:about\s+|around\s+|roughly\s+)?$",
    re.IGNORECASE,
)
_AS_MUCH = re.compile(
    r"\s+(?:as|of\s+(?:the|that)\s+(?:rate|odds|share|risk|figure|level|chance))\b", re.IGNORECASE
)
_LESS = re.compile(r"<|\u2264|below|under|less|smaller|lower", re.IGNORECASE)
_MORE = re.compile(r">|\u2265|above|over|greater|larger|higher|more|exceed", re.IGNORECASE)


def has_outcome(after: str) -> bool | None:
    """Return whether the words behind a number give it the outcome, or deny it."""
    lacks, has = _LACKS.match(after), _HAS.match(after)
    if lacks and not (has and has.end() < lacks.end()):
        return False
    return True if has else None


def text_around(wording: Wording, place: int) -> tuple[str, str]:
    """Return the text before a number, from the last one, and behind it, up to the next."""
    number = wording.numbers[place]
    first = wording.numbers[place - 1].end if place else 0
    last = (
        wording.numbers[place + 1].start if place + 1 < len(wording.numbers) else len(wording.text)
    )
    return wording.text[first : number.start], wording.text[number.end : last]


def multiplies(wording: Wording, place: int) -> bool:
    """Return whether the words before a number make it a factor of odds or risks."""
    return bool(_MULTIPLIED.search(text_around(wording, place)[0]))


def interval_ends(wording: Wording) -> dict[int, NumberRole]:
    """Return which numbers are the ends of an interval."""
    found: dict[int, NumberRole] = {}
    odds = "odds" in wording.text.lower()
    for place in range(len(wording.numbers) - 1):
        before, after = text_around(wording, place)
        if place in found or not _JOIN.fullmatch(after):
            continue
        both = wording.numbers[place], wording.numbers[place + 1]
        if both[1].value == 1.0 and both[1].whole and odds:
            continue  # odds of so many to one
        bracketed = _BRACKET.search(before) and _CLOSED.match(wording.text, both[1].end)
        spanned = re.fullmatch(r"\s*(?:to|\u2013|\u2014|-)\s*", after) and not both[0].whole
        cued = spanned or (
            INTERVAL.search(before[-60:]) and not starts_of(_NO_INTERVAL, wording.text)
        )
        counts = all(each.whole for each in both) and not cued
        if (bracketed or cued) and not counts and not _P.search(before):
            found[place], found[place + 1] = NumberRole.LOW, NumberRole.HIGH
    return found


def roles_of(
    wording: Wording, place: int, pairs: dict[int, NumberRole]
) -> tuple[tuple[NumberRole, ...], str]:
    """Return what a number may be, by the words around it; and how a p-value is compared."""
    number = wording.numbers[place]
    before, after = text_around(wording, place)
    if _level(number, before, after):
        return (NumberRole.LEVEL,), "="
    if fixed := fixed_role(number, before, after, wording.text):
        return (fixed,), "="
    if found := _P.search(before):
        return _p_roles(found[0])
    if named := pairs.get(place) or _named(number, before, after, wording.text):
        return (named,), "="
    neutral = _NEUTRAL_BEFORE.search(before) or _NEUTRAL_AFTER.match(after)
    if neutral and number.value in {0.0, 1.0} and number.step >= COARSE:
        return (NumberRole.NEUTRAL, NumberRole.VALUE, NumberRole.COUNT), "="
    return _measured_roles(number, before, after, wording.text), "="


def _named(number: WrittenNumber, before: str, after: str, text: str) -> NumberRole | None:
    share = number.unit is Unit.PLAIN and number.value < 1
    cues = (
        (NumberRole.P, share and _P_AFTER.match(after)),
        (NumberRole.LOW, _LOWER.search(before)),
        (NumberRole.HIGH, _UPPER.search(before)),
        (NumberRole.LOW, starts_of(_BOUNDS, text) and _LOW_AFTER.match(after)),
        (NumberRole.HIGH, starts_of(_BOUNDS, text) and _HIGH_AFTER.match(after)),
        (NumberRole.FREEDOM, _FREEDOM.match(after) or _FREEDOM_BEFORE.search(before)),
    )
    return next((role for role, there in cues if there), None)


def _level(number: WrittenNumber, before: str, after: str) -> bool:
    value = number.value / 100 if number.unit is Unit.PERCENT else number.value
    if not 0 < value < 1:
        return False
    named = _LEVEL_AFTER.match(after) or _LEVEL_BEFORE.search(before)
    return bool(named) and not (_P.search(before) and not _LEVEL_AFTER.match(after))


def _p_roles(sign: str) -> tuple[tuple[NumberRole, ...], str]:
    if _LESS.search(sign):
        return (NumberRole.P,), "<"
    return (NumberRole.P,), ">" if _MORE.search(sign) else "="


def _measured_roles(
    number: WrittenNumber, before: str, after: str, text: str
) -> tuple[NumberRole, ...]:
    if number.unit is Unit.TIMES:
        return (NumberRole.VALUE, NumberRole.CHANGE, NumberRole.INVERSE)
    if number.unit is Unit.POINTS:
        return (NumberRole.VALUE,)
    if number.unit is Unit.PERCENT:
        return _percent_roles(before, after, text)
    if number.whole:
        return _whole_roles(before, after)
    if _THRESHOLD.search(before[-60:] + after[:60]):
        return (NumberRole.VALUE, NumberRole.RATE, NumberRole.THRESHOLD)
    if starts_of(_CHANCE, text) and re.search(
        r"(?:\b(?:probability|likelihood|chance)(?:\s+(?:of|is|around|about|roughly|near|at))*|\bis)\s*$",
        before,
        re.IGNORECASE,
    ):
        return (NumberRole.P,)
    chance = (NumberRole.P,) if starts_of(_CHANCE, text) else ()
    if starts_of(RATE, text):
        return (*chance, NumberRole.RATE, NumberRole.VALUE)
    return (*chance, NumberRole.VALUE)


def _percent_roles(before: str, after: str, text: str) -> tuple[NumberRole, ...]:
    if _CHANGE.match(after) or _CHANGE_BEFORE.search(before):
        return (NumberRole.CHANGE, NumberRole.VALUE)
    if starts_of(_CHANCE, text):
        chance = re.match(r"\s+(?:chance|probability|likelihood)\b", after)
        if chance or _OF_SAMPLES.match(after):
            return (NumberRole.P,)
    threshold = (NumberRole.THRESHOLD,) if starts_of(_THRESHOLD, text) else ()
    sample = (NumberRole.SAMPLE,) if starts_of(_SAMPLE, text) else ()
    inverse = (NumberRole.INVERSE,) if _AS_MUCH.match(after) else ()
    return (NumberRole.RATE, NumberRole.VALUE, *inverse, *threshold, *sample)


def _whole_roles(before: str, after: str) -> tuple[NumberRole, ...]:
    of_all = _OF_ALL.search(before) and _CASES.match(after)
    if of_all or _TOTAL_AFTER.match(after) or _TOTAL_BEFORE.search(before):
        return (NumberRole.TOTAL,)
    if _LEAST.search(before[-30:] + after[:30]):
        return (NumberRole.LEAST, NumberRole.COUNT)
    return (
        (NumberRole.COUNT, NumberRole.VALUE) if _APPROXIMATE.search(before) else (NumberRole.COUNT,)
    )
