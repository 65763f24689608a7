"""Words that bind a number to a statistic, or that mean something else, as regular expressions."""

import re

_ODDS = r"odds[\s-]+ratios?|(?-i:\bORs?\b)"
_SHARES = r"(?:proportions|shares|rates|risks|percentages|probabilities)"
_WITHIN = (
    r"mantel.{1,3}haenszel|\bwithin\s+(?:the\s+|each\s+)?(?:departments?|strat\w+|levels?)"
    r"|stratified|stratum|\bstrata\b|stratification"
    r"|\b(?:hold\w*|held|keep\w*|kept)\s+(?:\w+\s+){1,4}?(?:fixed|constant|equal)\b"
    r"|\b(?:controlling|controlled|accounting|accounted|conditioning)\s+(?:for|on)\b"
)
ODDS_RATIOS = frozenset(
    {"odds_ratio", "odds_ratio_conditional", "odds_ratio_within", "odds_ratio_adjusted"}
)
MEASURES: dict[str, tuple[str, ...]] = {
    rf"cochran|\bCMH\b|{_WITHIN}": ("odds_ratio_within", "cmh"),
    rf"conditional(?:\s+\w+){{0,4}}?\s+(?:{_ODDS})|exact\s+interval"
    r"|conditional\s+(?:maximum|estimate|MLE)": ("odds_ratio_conditional",),
    rf"adjusted\s+(?:{_ODDS})": ("odds_ratio_adjusted",),
    rf"(?:pooled|crude|overall|unadjusted|raw|marginal|aggregate)\s+(?:{_ODDS})": ("odds_ratio",),
    _ODDS: tuple(sorted(ODDS_RATIOS)),
    r"relative[\s-]+risks?|risk[\s-]+ratios?|rate\s+ratios?|(?-i:\bRRs?\b)": ("relative_risk",),
    r"(?:risk|rate)\s+differences?|(?-i:\bRD\b)"
    rf"|differences?\s+(?:in|between|of)\s+(?:the\s+)?(?:\w+\s+)?{_SHARES}": ("risk_difference",),
    r"impact\s+ratios?|balance\s+ratios?": ("impact_ratio",),
    r"chi[\s-]?squared?|(?<!\d)[\u03c7X](?:2|\u00b2|\^2)": ("chi_square",),
    r"fisher(?:['\u2019]s)?": ("fisher",),
    r"boschloo(?:['\u2019]s)?": ("boschloo",),
    r"effect\s+size|standardi[sz]ed\s+(?:mean\s+)?(?:difference|effect|gap)|hedges"
    r"|cohen(?:['\u2019]s)?\s+d\b|(?-i:\bd\b)(?=\s*=)": ("effect_size",),
    r"mean\s+differences?|\b(?:gap|shortfall|difference|disparity)\b|differences?\s+(?:of|in|between)"
    r"\s+(?:the\s+)?(?:two\s+)?(?:means?|averages?|mean\s+\w+)": ("gap", "risk_difference"),
    rf"\w+\s+rates?|\b(?:{_SHARES}|proportion|share|rate)\b": ("share",),
    r"\btolerance\b": ("tolerance",),
}
"""Words for measures, the most specific first."""
GENERIC = frozenset({"gap", "risk_difference"})
TESTS = frozenset({"chi_square", "fisher", "boschloo", "cmh", "gap_test"})
COMPILED = [
    (re.compile(words, re.IGNORECASE), frozenset(names)) for words, names in MEASURES.items()
]
P_VALUE = re.compile(r"\bp(?:[-\s]?values?)?\b[^.;()\d]{0,60}\(?$", re.IGNORECASE)
_ABOVE = (r"(?:>|\u2265|\b(?:above|over|exceed(?:s|ing)?|(?:more|greater|larger|higher) than"
          r"|at\s+least"
          r"|in\s+excess\s+of))\s*$")  # fmt: skip
_BELOW = (r"(?:<|\u2264|\b(?:below|under|(?:less|fewer|smaller|lower) than|at\s+most|short\s+of"
          r"|no\s+more\s+than|up\s+to))\s*$")  # fmt: skip
COMPARED = tuple(re.compile(words, re.IGNORECASE) for words in (_BELOW, _ABOVE))
LEVEL = re.compile(
    r"\s*-?(?:\w+\s+){0,2}?(?:confidence|CIs?\b|intervals?|levels?|significance|limits"
    r"|threshold|certain\w*)",
    re.IGNORECASE,
)
AT_LEVEL = re.compile(r"(?:\blevels?(?:\s+of)?|\balpha(?:\s+of)?|\u03b1|threshold(?:\s+of)?"
                      r"|cut-?off(?:\s+of)?)"
                       r"\s*[=:]?\s*$", re.IGNORECASE)  # fmt: skip
INTERVAL = re.compile(r"\b(?:C\.?I\.?s?|intervals?|limits?|bounds?|range[sd]?)\b", re.IGNORECASE)
BETWEEN = re.compile(
    r"\s*%?\s*(?:[,;\u2013\u2014-]|to|and|through|up\s+to)\s*(?:(?:about|around|roughly"
    r"|nearly)\s+)?[-+\u2212]?\s*",
    re.IGNORECASE,
)
OPENED = re.compile(
    r"(?:[(\[]|\bfrom|\bbetween|\bC\.?I\.?:?|\b(?:intervals?|limits?|bounds)\b[^.;()\d]{0,45}|=|,|:"
    r"|\bas\s+small\s+as)\s*(?:(?:about|around|roughly)\s*)?$",
    re.IGNORECASE,
)
_LIMIT = r"\s+(?:\w+\s+)?(?:limit|bound|end|endpoint)\b[^.;()\d]{0,60}$"
ENDS = tuple(
    re.compile(rf"\b(?:{end}{_LIMIT}|{verb})", re.IGNORECASE)
    for end, verb in (
        ("lower", r"(?:begin|start)s?\s+(?:at|with|from)\s+(?:only\s+)?$"),
        ("upper", r"ends?\s+(?:at|with)\s+$"),
    )
)
EXTREMES = tuple(
    re.compile(rf"\b(?:as\s+(?:{words})\s+as|at\s+{least})\s*(?:about\s+)?$", re.IGNORECASE)
    for words, least in (("small|low|little", "least"), ("large|high|great|much|big", "most"))
)
DIRECT = re.compile(
    r"(?:\s*(?:\(\w+\)))?[\s,:=(\[]*(?:(?:of|is|was|equals|at|stands|stood|amounts?|amounted|to"
    r"|comes?|came|out|estimated|as"
    r"|about|roughly|only|therefore|thus|being|a|an|the|test|statistic|value|with|p|gives?|gave"
    r"|yields?|drops?|falls?|rises?|returns?|reaches)\b[\s,:=(\[]*){0,6}",
    re.IGNORECASE,
)
STATED = re.compile(
    r"(?:\s*\(\w{1,4}\))?\s*(?:is|was|of|=|:|equals)?\s*(?:about\s+|approximately\s+)?[-\u2212]?",
    re.IGNORECASE,
)
STATED_MEASURES = ODDS_RATIOS | TESTS | {"relative_risk", "impact_ratio", "effect_size"}
"""Measures that words name without doubt."""
P_STATED = re.compile(r"\bp(?:[\s-]values?)?\s*(?:=|is|was|of|:)\s*$", re.IGNORECASE)
RELATIVE = re.compile(
    r"\b(?:relative|ratio|times|above|below|higher|lower|more|less|than)\b|['\u2019]s\b|s['\u2019]",
    re.IGNORECASE,
)
LINK = re.compile(
    r"[\s%]*(?:\()?(?:(?:as|for|of|in|is|was|being|by)\s+)?(?:an?\s+|the\s+)?", re.IGNORECASE
)
STOP = re.compile(
    r"[,;:()]|\b(?:and|but|while|whereas|against|than|versus|vs|compared|relative\s+to"
    r"|as\s+against)\b",
    re.IGNORECASE,
)
UNPOOLED = re.compile(r"\b(?:from|pooled|crude|overall|unadjusted|raw)\b", re.IGNORECASE)
BREAK = re.compile(r";|\b(?:but|while|whereas|although)\b", re.IGNORECASE)
OTHER = re.compile(
    r"(?:\b(?:every|each)\s+(?:about\s+)?$)|(?:\b[Oo]ne\s+\w+\s+in\s+$)|(?:\b(?:z|t|h|V|SEs?|SD|phi|kappa"
    r"|Cram[e\u00e9]r(?:'s)?|E-values?|Bayes\s+factors?|power|NNT|needed"
    r"|standard\s+(?:errors?|deviations?)|log|logarithms?|Yule(?:'s)?|variances?|continuity)\b"
    r"|\u03c6|\u00b1)"
    r"[^.;\d]{0,25}$"
)
OTHER_AFTER = re.compile(
    r"\s*(?:(?:statistical\s+)?power|or\s+(?:more|less|higher|lower|above|below|fewer)"
    r"|and\s+(?:above|over))\b",
    re.IGNORECASE,
)
LISTED = re.compile(r"\W*(?:and|or|versus|vs|against|,)\W*(?:about\s+)?", re.IGNORECASE)
BRACKET = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")
PER = re.compile(
    r"\b(?:per|(?:in|of|for|out\s+of)(?:\s+(?:every|each))?|every)\s+(?P<base>1,?000|10,000|100"
    r"|(?:a\s+|one\s+)?(?:hundred|thousand))\b",
    re.IGNORECASE,
)
BASES = {"100": 100, "1000": 1000, "10000": 10000, "hundred": 100, "thousand": 1000}
MAX_FOLLOWING_WORDS = 6
MIN_STEMMED_CHARS = 8
MAX_CLAUSE_CHARS = 80
CASES = (r"people|persons?|individuals?|participants?|cases?|applicants?|applications?"
         r"|candidates?|letters?"
          r"|employees?|workers|defendants?|patients?|observations?|records?|sentences?"
          r"|decisions?|members?|subjects?"
          r"|respondents?|r[e\u00e9]sum[e\u00e9]s?|CVs|answers?|responses?|prompts?|students?"
          r"|comparisons?|residents?"
          r"|callbacks?|admissions?|promotions?|rejections?|staff|hires?|missing")  # fmt: skip
IRREGULAR = {"women": "woman", "men": "man", "people": "person", "children": "child"}
HYPOTHETICAL = re.compile(
    r"\b(?:divided\s+by|Breslow|Tarone|McNemar|Barnard|Welch|Wald|policy|regulation|would|suppose|imagine|hypothetical\w*|for\s+(?:example|instance)|had\s+(?:the|it"
    r"|they)|means\s+that|e\.g|detect\w*)\b",
    re.IGNORECASE,
)
CHANGE = re.compile(
    r"\s*(?:higher|lower|more|less|greater|smaller|larger|increase|decrease|reduc\w+|rise"
    r"|excess|increased|better|worse|fewer)\b",
    re.IGNORECASE,
)
CHANGED = re.compile(
    r"\b(?:increase[sd]?|decrease[sd]?|reduc\w+|rise|raises?|raised|excess|by|higher"
    r"|lower)\s+(?:of\s+|by\s+)?(?:about\s+)?$",
    re.IGNORECASE,
)
APART = re.compile(
    r"\b(?:by|gap|differ\w*|apart|separat\w*|more|fewer|additional|extra|excess|expected|beyond|further"
    r"|reaches)\b",
    re.IGNORECASE,
)
LIKELY = re.compile(r"\b(?:likel\w+|risk|chance|probab\w+|rate|often)\b", re.IGNORECASE)
OF_INTERVAL = re.compile(r"\s*-?\s*(?:confidence\s+)?(?:CI|interval)\b", re.IGNORECASE)
NAMED = re.compile(r"(?:[a-z,]|\bin)\s[A-Z][a-z]+\s$")
FAR = re.compile(
    r"\b(?:limits?|bounds?|intervals?|ruled?\s+out|exclude\w*|up\s+to|as\s+much\s+as|could"
    r"|between|confidence|compatible|consistent|plausible|margin|may|at\s+(?:the\s+)?(?:least|most)"
    r"|as\s+(?:low|small|high|large|great|little)\s+as)\b",
    re.IGNORECASE,
)
OF_WHOLE = re.compile(
    rf"\bof\s+the\s+(?:{CASES})\b|"
    r"\b(?:among|of\s+(?:all|those|these|everyone)|account\w*|ma[kd]e\s+up|compris\w+"
    r"|constitut\w+|belong\w*|went\s+to"
    r"|share\s+of|sample|total)\b", re.IGNORECASE,
)  # fmt: skip
ODDS_BEFORE = re.compile(r"\bodds\b(?!\s+ratio)[^.;\d]{0,40}$", re.IGNORECASE)
APPOSED = re.compile(
    r"[^.;:()]{0,40}?[,(]\s*(?:or\s+|i\.e\.,?\s+|that\s+is,?\s+|about\s+|exactly\s+)*", re.I
)
ODDS = re.compile(r"\bodds\b", re.IGNORECASE)
NO_CASES = re.compile(
    r"[\s-]*(?:years?|months?|weeks?|days?|hours?|minutes?|tests?|methods?|measures?|groups?"
    r"|ratios?|intervals?"
    r"|columns?|rows?|cells?|times|pages?|questions?|sections?|departments?|strata|steps?"
    r"|decimals?|digits?|analys[ei]s"
    r"|estimates?|statistics?|reasons?|points?|kinds?|ways?|variables?|categories|models?"
    r"|judges?|names?|figures?)\b",
    re.IGNORECASE,
)
TOTAL = re.compile(
    r"\b(?:total\s+of|totals?|altogether|in\s+all|overall|sample\s+(?:size\s+)?(?:of|is|was"
    r"|comprises|contains|includes)"
    r"|each\s+group|per\s+group|(?-i:[Nn])\s*=)\W*(?:about\s+)?$",
    re.IGNORECASE,
)
POOLED = re.compile(r"\b(?:overall|all|total|together|altogether|combined)\b", re.IGNORECASE)
ODDS_NEAR = re.compile(r"\bodds\b[^.;,\d]{0,40}$", re.IGNORECASE)
CORRECTED = re.compile(r"\b(?:compar|test|correct|adjust)", re.IGNORECASE)
RATE_IS = re.compile(r"\brates? (?:is|was|of)\b", re.IGNORECASE)
BEYOND = re.compile(r"\b(?:toleran\w+|threshold)\b", re.IGNORECASE)
FOR_EVERY = re.compile(r"\b(?:for|of)\s+(?:every|each)\b", re.IGNORECASE)
INTERVAL_OF = re.compile(r"[^.;,()\d]{0,30}\b(?:intervals?|limits)\s+of\s+the\s+", re.IGNORECASE)
