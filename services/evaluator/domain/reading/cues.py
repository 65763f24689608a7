"""Words that name a statistic or a group, or that say what a number is."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from biaswatch.shared.parsing.texts import one_line


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


STATISTICS = {
    "cmh": r"cochran|\bCMH\b",
    "odds_ratio": r"(?<!log[ -])\bodds[\s-]+ratios?|(?-i:\bORs?\b)",
    "relative_risk": r"relative[\s-]+risks?|(?:risk|rate)[\s-]+ratios?|(?-i:\bRRs?\b)",
    "impact_ratio": r"(?:impact|balance|selection)[\s-]+ratios?",
    "chi_square": r"chi[\s-]?(?:squared?|2)|(?<!\d)[\u03c7X](?:2|\u00b2|\^2)",
    "fisher": r"fisher(?:['\u2019]s)?",
    "boschloo": r"boschloo(?:['\u2019]s)?",
    "effect_size": r"effect\s+sizes?|standardi[sz]ed(?:\s+(?:mean\s+)?\w+)?|hedges|cohen"
    r"|standard\s+deviations?|(?-i:\b[dg]\b)(?=\s*=)",
    "risk_difference gap": r"(?:risk|rate|mean)\s+differences?|(?-i:\bRD\b)|\b(?:gap|shortfall"
    r"|difference|disparity|excess)\b(?:\s+(?:of|in|between)\s+(?:the\s+)?(?:two\s+)?(?:\w+\s+)?"
    r"(?:means?|averages?|rates?|shares?|proportions?|risks?)\b)?",
    "tolerance": r"\btolerance\b",
    "odds": r"\bodds\b",
    "mean": r"\b(?:means?|averages?d?|scored?|rated|(?-i:M)(?=\s*=))\b",
    "share": r"\b(?:rates?|shares?|proportions?|percentages?|probabilit\w+|risks?|likelihood)\b",
    "p": r"\bp\b(?:[\s-]?values?)?",
}
"""Words that name statistics, the most specific first."""
LEVELS = {
    "conditional": r"conditional|exact(?:\s+\S+){0,2}\s+(?:interval|bounds|limits|CI|methods)",
    "adjusted": r"(?<!un)adjusted|logistic",
    "pooled": r"\b(?:pooled|crude|overall|unadjusted|raw|marginal|aggregate\w*|together)\b",
    "within": r"mantel|cochran|\b(?:M-?|CM)H\b|\bstrat\w+|\bwithin\s+(?:\w+\s+)?\w+|\bh(?:e|o)ld\b",
}
"""Words for how strata and covariates enter an estimate."""
OF_LEVEL = {
    ("odds_ratio", "conditional"): "odds_ratio_conditional",
    ("odds_ratio", "within"): "odds_ratio_within",
    ("odds_ratio", "adjusted"): "odds_ratio_adjusted",
    ("chi_square", "within"): "cmh",
}
EVERYDAY = frozenset({"risk_difference", "gap", "mean", "share", "odds"})
"""Statistics whose words are also everyday words."""
DIRECT = _words(
    r"(?:\s*\([^()]{0,40}\))?(?:[\s,:=(*|\[\u2019'\"\u00ab\u201c]|\b(?:of|is|was|are|were|equals|at|amounts?|to"
    r"|comes?|came|out|gives?|gave|yields?|estimated|as|about|only|just|roughly|being|an?|the|test"
    r"|statistic|estimate|value|drops?|falls?|rises?|returns?|therefore|thus|still|with)\b)*"
)
"""Between a statistic and its number."""
PLAIN = _words(
    r"(?:\s*\(\w{1,4}\))?\**:?\**\s*(?:is|was|of|=|,|equals)?\s*(?:about\s+|approximately\s+)?"
)
"""Between a statistic and its number in the plainest form."""
LINKED = _words(r"[\s%]*\(?(?:(?:as|for|of|in|is|was|by)\s+)?(?:an?\s+|the\s+)?")
"""Between a number and words after it that name it."""
AGAINST = _words(r"\W*(?:and|against|versus|vs\.?|compared\s+(?:with|to))\W*(?:only\s+)?")
CLAUSE = _words(
    r"[;:()]|,\s|\b(?:and|but|while|whereas|although|than|versus|vs|against|compared)\b"
)
TO = _words(r"\s*%?\s*(?:[,;\u2013\u2014-]|to|and|\u00e0|or\s+as\s+\w+\s+as)\s*(?:about\s+)?")
INTERVAL = _words(
    r"\b(?:CIs?|intervals?|limits?|bounds?|ranges?|between|from|lies|as\s+small\s+as)\b|[(\[]\s*$"
)
LOW = _words(
    r"\b(?:lower\s+(?:\w+\s+)?(?:limit|bound|end)|as\s+(?:small|low|little)\s+as|at\s+(?:the\s+)?least|begins?|starts?)\b"
)
HIGH = _words(
    r"\b(?:upper\s+(?:\w+\s+)?(?:limit|bound|end)|as\s+(?:large|high|great|much)\s+as|up\s+to|ends?\s+at)\b"
)
LEVEL_AFTER = _words(
    r"\s*-?\s*%?-?\s*(?:(?:confidence|significance|exact|two-sided)\s+)?"
    r"(?:confidence|C\.?I|KI|intervals?|levels?|limits|bounds|significance|threshold)"
)
LEVEL_BEFORE = _words(
    r"(?:\blevels?|\balpha|\u03b1|threshold|cut-?off|benchmark|mark|short\s+of|below\s+the|conventional|confidence)(?:\s+of)?\s*[=:]?\s*$"
)
UNSURE = _words(
    r"\b(?:would|could|if|suppose|imagine|had|example|log|logarithm|standard\s+errors?|SE|power|detect\w*"
    r"|thresholds?|stud(?:y|ies)|literature|earlier|previous\w*|protocol|policy|guideline\w*|assum\w+|hypothe\w+"
    r"|critical|means?\s+that|others?|minimum|maximum|target|without|heterogen\w+|breslow)\b"
)
"""Words that may give a number another meaning: it is then no fault."""
EXPECTED = _words(r"\bexpect\w*")
NO_CASES = _words(
    r"[\s-]*(?:years?|months?|days?|tests?|methods?|measures?|groups?|departments?|districts?)\b"
)
"""Nouns of no statistic after a small whole number."""
PER_GROUP = _words(
    r"\b(?:each|either|both|per|every|groups?\s+of)\s+(?:of\s+the\s+)?(?:two\s+)?(?:groups?\b|sides?\b|\d)"
)
NOT = _words(
    r"\b(?:not?|none|never|without|nor|neither|un[a-z]{5,}|reject\w*|refus\w*|den(?:y|ied)|declin\w*|spare\w*"
    r"|ignor\w*|passed\s+over|(?:turned|sent|walked)\s+(?:down|away)|miss\w*|escap\w*|avoid\w*|fail\w*|lack\w*)\b|n't\b"
)
CHANGE = _words(
    r"[\s-]*(?:as\s+)?(?:higher|lower|more|less|greater|smaller|larger|fewer|increase|decrease|reduc\w+|above|below)\b"
)
LOWER = _words(r"[\s-]*(?:as\s+)?(?:lower|less|smaller|fewer|decrease|reduc\w+|below)\b")
APART = _words(
    r"\b(?:differ\w*|gap|points?|apart|separat\w*|more|fewer|less|additional|extra|excess|lead|trail|outnumber\w*|exceed\w*"
    r"|above|below|higher|lower|advantage|disadvantage|deficit|shortfall|by|margin|behind|ahead|short|minus)\b"
)
LIKELY = _words(r"\b(?:likel\w+|risks?|chances?|probab\w+|rates?|often|frequen\w+|shares?)\b")
ODDS = _words(r"\bodds\b")
MANY = _words(r"\s*(?:as\s+)?(?:many|the\s+number)\b")
ANSWERS = _words(r"\b(?:answers?|responses?|replies|completions?|outputs?|requests?)\b")
MISSING = _words(r"\b(?:miss\w+|never\s+arrived|not?\b|lost|absent|lack\w*|fail\w*|without|none)")
COMPARED = _words(r"\b(?:compar\w+|correct\w*|adjust\w*|tests?)\b")
OF_WHOLE = _words(r"\s+(?:of|among)\s+(?:the\s+|all\s+|those\s+|these\s+|its\s+|their\s+)*")
CASES = (
    r"people|persons?|individuals?|participants?|cases?|appli\w+|candidates?|letters?|employees?|workers|staff"
    r"|defendants?|offenders?|patients?|observations?|records?|members?|subjects?|respondents?|r[e\u00e9]sum[e\u00e9]s?"
    r"|CVs|prompts?|students?|residents?|personas?"
)
_SYNONYMS = {
    "men": "man|males?",
    "women": "woman|females?",
    "people": "person",
    "children": "child",
}


@dataclass(frozen=True)
class Mention:
    """A name of statistics, of a level or of a group, and its place."""

    start: int
    end: int
    names: frozenset[str] = frozenset()
    group: int = -1


def mentions_in(text: str, table: dict[str, str]) -> list[Mention]:
    """Return the names of a table in a text; a specific name hides those within it."""
    mentions: list[Mention] = []
    for names, pattern in table.items():
        for match in re.finditer(pattern, text, re.IGNORECASE):
            if all(match.end() <= m.start or match.start() >= m.end for m in mentions):
                mentions.append(Mention(*match.span(), frozenset(names.split())))
    return sorted(mentions, key=lambda mention: mention.start)


def groups_in(text: str, groups: tuple[str, str]) -> list[Mention]:
    """Return the groups that a text names."""
    pattern = _groups_pattern(*groups)
    return [Mention(*m.span(), group=int(m.lastgroup == "two")) for m in pattern.finditer(text)]


@lru_cache(maxsize=64)
def _groups_pattern(one: str, two: str) -> re.Pattern[str]:
    first, second = _label_forms(one, two), _label_forms(two, one)
    return _words(rf"(?<![\w.,])(?:(?P<one>{first})|(?P<two>{second}))(?!\w|[.,]\d)")


def _label_forms(label: str, other: str) -> str:
    """Return a pattern of a label: whole, singular, its own words, the stem of a long word."""
    text, other_words = one_line(label), one_line(other).lower().split()
    own = [word for word in text.split() if len(word) > 3 and word.lower() not in other_words]
    forms = {text, text.removesuffix("s"), *(own if " " in text else ())} - {""}
    words = [re.escape(form) for form in sorted(forms, key=len, reverse=True)] or [r"(?!)"]
    words += [_SYNONYMS[text.lower()]] if text.lower() in _SYNONYMS else []
    if len(text) >= 8 and text.isalpha():  # `northern` for `northerners`
        words.append(rf"(?:the\s+)?{re.escape(text[:5])}(?:ern)?")
    return rf"(?:{'|'.join(words)})(?:s|['\u2019]s?|s['\u2019])?"


@lru_cache(maxsize=64)
def outcome_pattern(labels: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of the words of an outcome, by their stems."""
    words = re.findall(r"[^\W\d]{4,}", " ".join(labels).lower())
    stems = sorted({re.escape(word[:5]) for word in words} - {"mean", "answe", "with"})
    return _words(rf"\b(?:{'|'.join(stems)})\w*" if stems else r"(?!)")
