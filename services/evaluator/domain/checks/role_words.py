"""The words around a number that say what it is: each role's own, before it and behind it."""

from biaswatch.services.evaluator.domain.checks.phrases import one_of, sought, spaced

# What several roles share.
_EDGE = "bound|limit|end"
_ABOUT = r"(?:about\s+|around\s+|some\s+)?"
_EFFECT = one_of("difference, association, effect, link")
_NO_EFFECT = rf"no\s+(?:true\s+|real\s+)?{_EFFECT}"
_STANDS = (
    "of, is, was, at, about, around, approximately, roughly, equals?, equal to, being, stands at,"
    " comes to, to"
)
LINK = rf"[\s:,(=~\u2248]*(?:{one_of(_STANDS)}\b[\s:(=~\u2248]*)*"
"""What may stand between a word and its number."""

# Intervals and their ends.
_INTERVAL = one_of(
    r"interval, ci, range[sd]?, ranging, limits?, bounds?, between, from, extend\w*, span\w*,"
    r" stretch\w*, runs?, goes, reach\w*, lies, low(?:er)?"
)
_INTERVAL_NOUN = one_of(
    r"intervals?, cis?, confidence, limits?, bounds?, range[sd]?, ruled out, exclud\w+, plausible,"
    r" compatible, uncertainty, credible, precision, margin"
)
_AND = one_of(r",, ;, to, and, up to, through, until, \u2013, \u2014, -, \.\.+")
INTERVAL = sought(rf"\b{_INTERVAL}\b")
INTERVAL_NOUN = sought(rf"\b{_INTERVAL_NOUN}\b")
JOIN = sought(
    rf"\s*[)\]]?\s*{_AND}\s*(?:an?\s+|the\s+)?(?:upper\s+(?:bound|limit|end)\s*(?:of|at|is)?\s*)?"
)
BRACKET, CLOSED = sought(r"[(\[]\s*$"), sought(r"\s*[)\]]")


def _end_before(own: str, other_words: str) -> str:
    """Return a pattern of an interval's end before its number: `the lower bound of the ratio is`.

    Other words than its own have to stand before a bound, a limit or an end.
    """
    named = rf"(?:{own}|(?:{other_words})(?=[\s-]*(?:confidence\s+)?(?:{_EDGE})))"
    what = rf"[\s-]*(?:confidence\s+)?(?:{_EDGE}|endpoint|one)?"
    of = r"(?:\s+(?:of|for)\s+[^.;,0-9]{0,50}?)?"
    return rf"\b{named}{what}{of}{LINK}$"


def _as_much_as(sizes: str) -> str:
    return rf"(?<!least\s)\bas\s+(?:{sizes})\s+as\s*$"


def _at_the_end(sides: str, between: str) -> str:
    return rf"\b(?:on|at)\s+(?:the|its)\s+(?:{sides})\s+end\b{between}{{0,50}}$"


def _end_behind(side: str, way: str, edge: str) -> str:
    """Return a pattern of an interval's end behind its number: `(lower)`, `at the bottom`."""
    named = rf"\(?(?:the\s+)?{side}(?=\))|as\s+(?:the|its)\s+{side}"
    return rf"\s*(?:{named}|{way}|at\s+the\s+(?:{edge}|{side}\s+end))\b"


LOWER = sought(
    _end_before("lower", "low|smallest|left"),
    r"\b(?:start|begin)s?\s+at\s*$",
    _as_much_as("low|small|little"),
    _at_the_end("low|lower|bottom|left", "[^.;,0-9]"),
)
UPPER = sought(
    _end_before("upper", "high|largest|right"),
    r"\b(?:end|stop)s?\s+(?:at|until)\s*$",
    _as_much_as("high|large|great|much"),
    _at_the_end("high|higher|upper|top|right", "[^.;0-9]"),
)
LOW_AFTER = sought(_end_behind("lower", "below", "bottom"))
HIGH_AFTER = sought(_end_behind("upper", "above", "top"))
BOUNDS = sought(r"\bbounds?\b", r"\blimits?\b", r"\bends?\b")
NO_INTERVAL = sought(r"\b(?:respectively|rates?)\b")

# p-values and levels.
_P_KINDS = (
    "associated|attached|corresponding|accompanying|resulting|tail|exceedance|attendant"
    "|significance"
)
_P_NAMES = (
    r"\bp(?:\s*-?\s*values?)?",
    r"\bprobability\s+value",
    rf"\b(?:{_P_KINDS})\s+probabilit(?:y|ies)",
)
_P_WITH_A_NUMBER_BEHIND = r"\s*(?:[=<>:,~]|of\b|is\b|was\b|value)"
_LEVEL = one_of(
    "level, alpha, \u03b1, threshold, cut-?off, significance, criterion, standard, benchmark"
)
_LEVEL_KIND = one_of("confiden(?:ce|t), significance, credible, uncertainty")
_LEVEL_NOUN = one_of(
    "level, alpha, threshold, cut-?off, mark, ci, interval, range, limits?, bounds?,"
    " (?:lower|upper)(?= (?:bound|limit|confidence|end))"
)
P = sought(rf"(?:{'|'.join(_P_NAMES)})(?![\w-])[^.;0-9]{{0,60}}$")
P_AFTER = sought(
    rf"[\s(]*(?:as\s+(?:its|the)\s+)?p(?:\s*-?\s*value)?\b(?!{_P_WITH_A_NUMBER_BEHIND})"
)
LEVEL_BEFORE = sought(rf"\b{_LEVEL}\b{LINK}$")
LEVEL_AFTER = sought(rf"[\s-]*(?:(?:two-sided\s+)?{_LEVEL_KIND}\b|{_LEVEL_NOUN}\b)")

# The value of no effect.
_HOLDS_OR_NOT = (
    r"includ\w*, contain\w*, exclud\w*, enclos\w*, bracket\w*, captur\w*, embrac\w*, admit\w*,"
    r" permit\w*, cover\w*, cross\w*, span\w*, straddl\w*, encompass\w*, overlap\w*, reach\w*,"
    r" touch\w*"
)
_WHERE = (
    r"above, below, over, under, exceed\w*, than, beyond, from, null, parity, equality, rules? out,"
    r" side of, sides of, value of, around, past, through, against, with, to, of, no effect,"
    r" clear of, away from, out"
)
_NEUTRAL_NAMES = one_of(
    "the, a, value, of, null, parity, equality, line, reference, at, by, neutral, point, mark"
)
_MEANING = one_of(
    r"would, means?, meaning, is, being, marks?, stands for, \(?the value, indicat\w*, \(?no\b,"
    r" corresponds?, line"
)
NEUTRAL_BEFORE = sought(
    rf"\b{one_of(f'{_HOLDS_OR_NOT}, {_WHERE}')}(?:\s+{_NEUTRAL_NAMES})*[\s(,:]*$"
)
NEUTRAL_AFTER = sought(rf"[\s),]*(?:,\s*)?(?:which\s+|and\s+)?{_MEANING}")

# Changes, rates and multiples.
_MORE_OR_LESS = one_of(
    "likelier, rarer, oftener, bigger, higher, lower, more, less, greater, larger, smaller, fewer,"
    " increase, decrease, reduction, rise, drop, above, below"
)
_CHANGED = one_of(
    r"increase[sd]?, decrease[sd]?, reduc\w+, rise[sn]?, rose, raise[sd]?, cut, higher, greater,"
    r" larger, smaller, bigger, less, more, fewer, down, up, diminished, elevated, lowered,"
    r" exceed\w*, differ\w*, lower"
)
_COMPARED = one_of("less, more, lower, higher, greater, smaller, fewer, larger, rarer")
_CHANGE_NOUN = one_of("increase, decrease, reduction, rise, drop, fall, decline, gain, cut, excess")
_RATE = one_of(
    r"rates?, shares?, proportions?, percentages?, fractions?, probabilit\w+, chances?,"
    r" risks?(?! (?:ratio|difference)), odds(?! ratio), likelihood"
)
CHANGE = sought(r"\s*in\s+relative\s+terms\b", rf"\s*(?:\w+\s+)?{_MORE_OR_LESS}\b")
CHANGE_BEFORE = sought(
    rf"\b{_CHANGED}\s+(?:\w+\s+){{0,2}}by\s*(?:about|around)?\s*$",
    rf"\b{_COMPARED}\b[^.;]*\bby\s+{_ABOUT}$",
    rf"\b{_CHANGE_NOUN}\s+(?:in\s+(?:the\s+)?\w+\s+)?of\s+{_ABOUT}$",
)
RATE = sought(rf"\b{_RATE}\b")
MULTIPLIED = sought(
    r"\b(?:multipl\w+\b[^.;]{0,40}\bby|(?:a|the)\s+factor\s+(?:of|is|was))"
    r"\s+(?:about\s+|around\s+|roughly\s+)?$"
)
AS_MUCH = sought(
    rf"\s+(?:as|of\s+(?:the|that)\s+{one_of('rate, odds, share, risk, figure, level, chance')})\b"
)
APPROXIMATE = sought(
    r"\b"
    + one_of(
        "estimates?, ratio, risk, value, statistic, about, roughly, approximately, nearly, almost,"
        " difference, size, is, was, of"
    )
    + r"\b[\s(]*$"
)

# Degrees of freedom, rules and least numbers.
_FREEDOM = r"d\.?f\.?"
FREEDOM = sought(r"\s*degrees?\s+of\s+freedom", rf"\s*{_FREEDOM}\b")
FREEDOM_BEFORE = sought(
    rf"\S\s+(?<!\bone\s)(?<!\bsingle\s)(?:{_FREEDOM}|degrees?\s+of\s+freedom){LINK}$",
    rf"\({_FREEDOM}{LINK}$",
)
"""Not behind a number of its own: "one degree of freedom equals"."""
THRESHOLD = sought(
    *("rule", "threshold", r"four[\s-]fifths", "guideline", "benchmark", "cut-?off", "regulator"),
    *("customary", "conventional", spaced("held against")),
)
LEAST = sought(
    *("fewest", "minimum", spaced("at least"), "needs?", "needed", r"requir\w*", "threshold"),
    *("recommended", "floor", "least"),
)
AT_LEAST = sought(r"\bno\s+(?:smaller|lower|less)\s+than\s*$", r"\bat\s+least\s*$")
AT_MOST = sought(r"\bno\s+(?:larger|higher|greater|more|bigger)\s+than\s*$", r"\bat\s+most\s*$")
LESS = sought("<", "\u2264", "below", "under", "less", "smaller", "lower")
MORE = sought(">", "\u2265", "above", "over", "greater", "larger", "higher", "more", "exceed")

# Counts of cases.
_PEOPLE = "people|persons|observations|records|individuals|participants|applicants"
_TOTAL = one_of("in all, in total, altogether, together, overall, combined")
_TOTALS = (
    spaced("total of"),
    spaced("all told,?"),
    r"(?:^|[.;]\s*)cases\s*[:=]",
    spaced("drew on"),
    r"(?-i:\bN)\s*=",
    spaced("in total,?"),
    r"(?:sample|total)\s+(?:size\s+)?(?:of|is)",
    spaced("people of"),
    spaced("cases of"),
    spaced("out of all"),
)
TOTAL_AFTER = sought(rf"\s*(?:\w+\s+){{0,2}}?(?:cases|{_PEOPLE})?,?\s*{_TOTAL}\b")
TOTAL_BEFORE = sought(rf"\b(?:{'|'.join(_TOTALS)})\s*$")
OF_ALL = sought(r"\b(?:(?:of|among)\s+(?:the|all|all\s+the)|from)\s*$")
CASES = sought(rf"\s*(?:cases|files|{_PEOPLE})\b(?!\s+(?:with|without|that|who))")
SAMPLE = sought(
    r"\bsample",
    r"\bof\s+(?:all|the)\s+(?:\d+\s+)?cases",
    r"m(?:ade|ake)\s+up",
    r"account\w*\s+for",
    "compris",
    "consist",
)

# With the outcome, and without it.
_SOME_WORDS = r"(?:[\w<>]+\s+){0,3}?"
_NUMBERED = one_of(
    "is, was, are, were, numbers?, numbered, equals?, totals?, totalled, comes? to, stands? at,"
    " amounts? to, being, at"
)
_WITHOUT = r"(?:(?:did|were|was|had|do|are)\s+not|without|lacked|lacks?|didn't|weren't)"
_WHO_LACK = (
    r"(?:(?:who|that|which)\s+(?:did|were|was|had|do|are|have)\s+not|without|lack(?:ed|s|ing)?)"
)
LACKS = sought(rf"\s*{_SOME_WORDS}{_WITHOUT}\b", r"\s*no\b(?!\s+(?:fewer|less|more))")
LACKS_BEFORE = sought(rf"\b{_WHO_LACK}\b[^,;.:0-9]{{0,40}}?(?:\b{_NUMBERED})\s*$")
HAS = sought(
    r"\s*with\s+(?:it|the\s+outcome|that\s+outcome)\b",
    rf"\s*{_SOME_WORDS}(?:had\s+(?:the|this|that)\s+outcome|did\b(?!\s+not))",
)

# What a p-value is the probability of.
_TESTED = "chi|test|statistic"
_SUPPOSED = one_of(
    r"if, were, was, had, assum\w+, suppos\w+, under, given, imagin\w+, in a world, where"
)
_NOTHING_THERE = (
    r"chi\b",
    "hypothesis",
    r"independen\w+",
    "unrelated",
    "chance",
    rf"(?:made|make|was|were|is|be)\s+{_NO_EFFECT}",
    spaced("by luck"),
)
_ALIKE = (
    r"equal\w*",
    "alike",
    _NO_EFFECT,
    "unrelated",
    r"independen\w+",
    "null",
    "identical",
    r"nothing\s+(?:but|was|is|were|going)",
    spaced("not differ"),
    "chance",
)
_HOW_OFTEN = one_of(
    "samples?, times?, cases, tables, datasets?, studies, repetitions, probability, chance,"
    " likelihood, turn up, arise, occur, happen, appear"
)
_SAMPLES = one_of(
    "samples?, times?, tables, datasets?, data sets, studies, repetitions, replications,"
    " experiments, draws, surveys, occasions"
)
_UNRELATED = one_of(r"hypothesis, independen\w+, unrelated, chance alone")
_TRUE = r"(?:true\s+|real\s+|actual\s+|underlying\s+)*"
_RELATION = one_of("difference, association, effect, link, relationship")
CHANCE = sought(
    rf"\bprobability\b[^;]*\b(?:{'|'.join(_NOTHING_THERE)})",
    rf"\b(?:no|without\s+any)\s+{_TRUE}{_RELATION}\b[^;]*"
    r"\b(?:probability|chance|likelihood|times\s+in)\b",
    r"\bprobability\s+(?:of|for|behind|attached\s+to|belonging\s+to)\s+(?:the|this|that)"
    r"\s+(?:test|statistic|result)\b",
    rf"\b{_UNRELATED}\b[^;]*\bprobability\b",
    rf"\b{_SUPPOSED}\b[^;]*\b(?:{'|'.join(_ALIKE)})\b[^;]*\b{_HOW_OFTEN}",
)
OF_SAMPLES = sought(
    rf"\s+(?:of|in)\s+(?:all\s+|such\s+|the\s+|repeated\s+|random\s+|hypothetical\s+)*{_SAMPLES}\b"
)
OF_TEST = sought(
    rf"\b(?:{_TESTED})\b[^;]*\b(?:probability|likelihood)\b",
    rf"\bprobability\b[^;]*\b(?:{_TESTED})\b",
)
