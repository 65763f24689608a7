"""How people call each measure: by its name, the ways to say it."""

from biaswatch.services.evaluator.domain.checks.phrases import one_of, spaced

# What several measures are made of.
_STRATUM = r"strat(?:um|a)"
_RATES = one_of("risks?, rates?, shares?, proportions?, percentages?, probabilit\\w+")
_A_RATE = one_of("rate, share, proportion, percentage, risk, probability")
_LARGER = "(?:larger|higher|greater)"
_SMALLER = "(?:smaller|lower|lesser)"
_OF = "(?:of|for|among)"
_TWO_RATES = r"(?:two\s+)?(?:selection\s+)?(?:rates|shares|proportions)"
_ONE_RATE = r"(?:selection\s+)?(?:rate|share|proportion)"
_SOMEBODY = r"(?:[\w'-]+\s+)"
_SQUARED = r"\s*(?:\u00b2|\^?2\b)"


def _abbreviated(letters: str) -> str:
    """Return a pattern of letters that are large whatever else is."""
    return rf"(?-i:\b{letters}\b)"


_WITHIN_STRATA = (
    r"mantel[\s-]*haenszel(?:\s+(?:pooled\s+)?(?:odds\s+ratio|estimate))?",
    rf"(?:stratified|{_STRATUM}[\s-]adjusted|within[\s-]{_STRATUM})\s+odds\s+ratios?",
    r"odds\s+ratio\s+(?:(?:with)?in|across|over|after)\s+(?:the\s+)?strat\w+",
    r"(?:common|pooled)\s+odds\s+ratio\s+(?:with)?in\s+strat\w+",
)
_CMH = (
    r"cochran[\s-]*mantel[\s-]*haenszel(?:\s+(?:test|statistic))?(?:\s+within\s+strata)?",
    r"\bcmh\b",
)
_ADJUSTED = (spaced("adjusted odds ratios?"), spaced("logistic regression"))
_ODDS_RATIO = (
    r"odds[\s-]ratios?",
    r"cross[\s-]?(?:product\s+)?ratios?",
    r"(?:in\s+)?odds\s+(?:terms|scale)",
    r"ratio\s+of\s+(?:the\s+)?odds",
    _abbreviated("ORs?"),
)
_RELATIVE_RISK = (
    spaced("relative risks?"),
    r"(?:in\s+)?risk\s+(?:terms|scale)",
    r"ratio\s+of\s+(?:the\s+)?(?:probabilities|chances|shares)",
    r"relative\s+(?:rate|chance)",
    r"risk[\s-]ratios?",
    r"ratio\s+of\s+(?:the\s+)?(?:risks|rates)",
    r"(?:rate|prevalence|incidence|probability|proportion|share)\s+ratios?",
    _abbreviated("RRs?"),
)
_RISK_DIFFERENCE = (
    r"(?:absolute\s+)?risk\s+(?:differences?|gap)",
    r"rate\s+(?:difference|gap)",
    r"percentage[\s-]points?\s+(?:difference|gap)",
    _abbreviated("RD"),
    rf"(?:absolute\s+)?(?:difference|gap)\s+(?:in|of|between)\s+(?:the\s+)?(?:two\s+)?{_RATES}",
    (
        rf"difference\s+between\s+the\s+{_A_RATE}\s+{_OF}\s+(?:the\s+)?{_SOMEBODY}{{1,3}}?"
        rf"and\s+(?:the\s+\w+|that)\s+{_OF}"
    ),
    (
        rf"subtract\w*\s+(?:the\s+)?{_A_RATE}\s+{_OF}\s+(?:the\s+)?{_SOMEBODY}{{1,3}}?"
        rf"from\s+(?:that|the\s+\w+)\s+{_OF}"
    ),
)
_SET_AGAINST = (
    r"(?:is\s+|was\s+|when\s+|if\s+|expressed\s+|taken\s+|put\s+|set\s+|stated\s+|given\s+|seen\s+)*"
    r"(?:divided\s+by|over|against|relative\s+to|in\s+relation\s+to|beside"
    r"|as\s+a\s+(?:fraction|share|proportion|part|percentage|multiple)\s+of)"
)
_IMPACT_RATIO = (
    r"(?:(?:adverse|disparate)\s+)?impact\s+ratios?",
    r"four-?\s?fifths\s+(?:ratio|figure|value|statistic)",
    (
        r"(?:ratio\s+of\s+)?(?:the\s+)?(?:smaller|lower)(?:\s+rate)?\s+(?:to|over|divided\s+by)\s+"
        rf"(?:the\s+)?{_LARGER}(?:\s+rate)?(?!\s+of)"
    ),
    (
        rf"(?:the\s+)?{_SMALLER}\s+(?:of\s+the\s+{_TWO_RATES}|{_ONE_RATE}),?\s+{_SET_AGAINST}\s+the\s+"
        rf"{_LARGER}(?:\s+(?:one|rate|share|selection\s+rate|of\s+the\s+two))?"
    ),
    (
        rf"ratio\s+of\s+the\s+{_TWO_RATES},?\s+\(?(?:the\s+)?{_SMALLER}\s+(?:one\s+)?"
        rf"(?:over|to|by|divided\s+by)\s+(?:the\s+)?{_LARGER}(?:\s+one)?"
    ),
    r"quotient\s+of\s+the\s+(?:smaller|lower)\s+(?:and|by|over)\s+the\s+(?:larger|higher)",
)
_CHI_SQUARE = (
    rf"chi{_SQUARED}",
    r"chi[\s-]*squared?d?(?:\s+(?:test|statistic|value))*",
    rf"(?:\u03c7|\u03a7|x){_SQUARED}(?:\s+(?:test|statistic))?",
    r"pearson(?:'s|\u2019s)?\s+test",
)
_GAP_TEST = (
    r"test\s+of\s+the\s+difference(?:,\s*corrected\s+for\s+the\s+number\s+of\s+comparisons)?",
    r"(?:corrected|adjusted)\s+(?:test|p-?\s*value)",
)
_MEAN = r"(?:mean|average)"
_GAP = (
    (
        rf"difference\s+between\s+the\s+{_MEAN}\s+(?:of|for)\s+{_SOMEBODY}{{1,4}}?"
        rf"and\s+(?:the\s+{_MEAN}|that)\s+(?:of|for)"
    ),
    rf"subtract\w*\s+(?:the\s+{_MEAN}\s+(?:of|for)\s+)?[\w'-]+\s+from\s+(?:that\s+of\s+)?[\w'-]+",
    r"true\s+(?:gap|difference)(?=\s+(?:is|lies|may|could|falls)\b)",
    r"difference\s+(?:of|in|between)\s+(?:the\s+)?(?:two\s+)?(?:group\s+)?means?",
    r"mean\s+(?:difference|gap)",
    r"means\s+(?:differ(?:ed)?\s+by|are\s+apart\s+by)",
    spaced("difference in averages?"),
    r"(?:estimated|observed|average)\s+difference",
    r"(?:gap|difference)(?=\s*\()",
)
_EFFECT_SIZE = (
    r"(?:standardi[sz]ed\s+)?effect\s+sizes?",
    r"hedges(?:'|\u2019)?s?\s*g",
    r"cohen(?:'s|\u2019s)?\s*d",
    r"standardi[sz]ed\s+(?:mean\s+)?difference",
)
MEASURE_WORDS = {
    name: "|".join(ways)
    for name, ways in {
        "odds_ratio_within": _WITHIN_STRATA,
        "cmh": _CMH,
        "odds_ratio_adjusted": _ADJUSTED,
        "odds_ratio": _ODDS_RATIO,
        "relative_risk": _RELATIVE_RISK,
        "risk_difference": _RISK_DIFFERENCE,
        "impact_ratio": _IMPACT_RATIO,
        "chi_square": _CHI_SQUARE,
        "gap_test": _GAP_TEST,
        "gap": _GAP,
        "effect_size": _EFFECT_SIZE,
    }.items()
}
"""By a measure's name, how people call it; the first that fits at a place counts."""
