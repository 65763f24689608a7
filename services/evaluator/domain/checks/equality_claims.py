"""What a clause says of equality: that the groups are alike, or that this is proven.

Equality is claimed by what is equal (the groups, their rates), by a gap that is none, or by a group
that does not matter. What is supposed, asked for, or said of evidence or of an interval's values
claims no equality; whoever warns that it is not proven claims none either.
"""

from biaswatch.services.evaluator.domain.checks.phrases import any_of, phrases_of, words_of
from biaswatch.services.evaluator.domain.checks.plain_negation import denied, plainly

_SUPPOSED = "if|would|whether|hypothes\\w+|null|suppos\\w+|assum\\w+|question|claim\\w*|idea|were there|under|(?:may|might|could)(?! (?:\\w+ )?(?:conclude|say|state|call))|model|baseline"
_OF_VALUES = "values?|possib\\w+|plausib\\w+|compatible|consistent|includ\\w+|exclud\\w+|contain\\w*|rul(?:e|ed|es) out|interval|corresponds?|stands? for|marks?|line"
_OF_EVIDENCE = "significan\\w*|statistical\\w*|evidence|detect\\w*|expect\\w*|conclusion|fail\\w*|necessarily|cannot|yet|discern\\w*|apparent|visible|clear"
_OF_FACTORS = "than|times|as likely|likely as|far from|direction|means?(?: that)?|wrong|size|sample size|number of|way round|reason|cause|why|strat\\w+|odds ratio"
_GUARD = phrases_of(_SUPPOSED, _OF_VALUES, _OF_EVIDENCE, _OF_FACTORS)
"""What shows that a clause does not simply call the groups equal."""

_TRUE = words_of(
    r"real actual true such further meaningful systematic relevant underlying genuine perceptible"
    r" whatsoever appreciable noticeable slightest least single smallest faintest"
)
_NO = rf"(?:no|not any|neither a|zero|nil|not (?:even )?(?:the|a|one)(?: (?:shred|trace) of a)?) (?:(?:{_TRUE}) )*"
_GAP = words_of(
    r"differences? disparit\w+ gap effect associations? link relationship inequality imbalance bias"
    r" distinction divide contrast connection correlation discrepancy influence dependence <m:gap> <m:risk_difference>"
)
_RATES = words_of(
    "rates? shares? means? averages? chances? odds probabilit\\w+ proportions? percentages? risks? figures? results? outcomes? scores? prospects frequenc\\w+ numbers? sides treatment"
)
_GROUPS = (
    "(?:<g[01]> and (?:the |of )?<g[01]>|(?:the|these|both|two|our) (?:two |population |true )?(?:groups?|samples|populations)"
    "|both(?: groups)?|they|groups?|group and outcome|outcomes?(?: and group)?"
    f"|(?:the|these|both|two|their) (?:two )?(?:(?:true|observed|population|underlying|selection) )?{_RATES})"
)
_SAME = any_of(
    r"equal(?:ly)?|equals|alike|(?:one and )?the (?:very |exact |self)?same|identical(?:ly)?|equivalent|unrelated|independent|on a par|on equal terms|on an equal footing|level|even|tied|at parity|no different",
    r"unconnected|indistinguishable|interchangeable|coincid\w+|tally|just as \w+|(?:in|by) (?:exactly |precisely )?the (?:\w+ )?same (?:way|manner|rate|chance|odds)|agree (?:exactly|perfectly|completely)|match(?: (?:exactly|perfectly|each other|one another))?",
)
_BEING = words_of(
    r"are were is was be being been have had has fare fared do did share get got enjoy receive[sd]? treated stand stood"
    r" turn\sout come\sout came\sout behave behaved run lie lay score scored prove to"
)
_NOTHING = any_of(
    r"(?:(?:exactly|precisely|truly|really|in truth|in fact|absolutely|simply) )?(?:zero|nil|nothing|non-?existent|absent|none|naught|nought|null|a myth|an illusion|imaginary)"
)
_OF_GROUPS = r"(?: (?:between|in|of|for|among|at)(?: (?:the )?[\w<>]+){1,7}?)?"
_EQUAL = phrases_of(
    rf"{_NO}{_GAP}",
    rf"absence of (?:any |an? )?(?:\w+ )?{_GAP}",
    rf"{_GROUPS} (?:really |truly |in truth |in fact |simply )?(?:do|does|did)(?: not|n[\u2019']t) differ",
    rf"{_GROUPS}(?: (?:of|for|in|among) (?:the )?(?:two )?(?:groups?|<g[01]>(?: and (?:the |of )?<g[01]>)?))? (?:(?!not\b)\w+ ){{0,2}}?(?:{_BEING} )?(?:(?!not\b|nearly\b|almost\b|roughly\b)\w+ ){{0,3}}?{_SAME}(?! (?:to )?<n)",
    r"(?:have|has|had|shar(?:e|ed)|enjoy\w*|faces?|get|got|received?|show\w*|at) (?:\w+ ){0,2}?(?:the (?:\w+ )?same|an? equal|identical|equal) (?:\w+ )?(?:chances?|odds|rates?|probabilit\w+|likelihood|risks?|treatment|outcomes?|shares?|means?|averages?|prospects)",
    rf"(?:exactly |precisely |quite )?(?:the same|an? (?:equal|identical)) {_RATES} (?:was|is|were|are|has been|applies|holds)?[^;]*? (?:for|in|among|by|to) (?:the )?<g[01]>[^;]*<g[01]>",
    "equally (?:well|often|likely|frequently|common|distributed|treated)|distributed (?:equally|evenly)",
    r"equal treatment|(?:plays?|played|has|had) no (?:role|part|bearing|influence|effect|say)|(?:is|was) (?:irrelevant|immaterial|of no consequence)|nothing to do with",
    r"fair to (?:both|all|each)|groups fare (?:equal|alike)\w*|nothing to choose between|makes? no difference|made no difference",
    "equality is (?:shown|proven|established|confirmed)|equality (?:prevails|reigns|holds)",
    r"(?:does|did|do) not (?:matter|depend on (?:the )?(?:group|<g[01]>))",
    rf"{_GAP}{_OF_GROUPS} (?:is|was|equals|amounts to|comes to|has vanished to) (?:\w+ly )?{_NOTHING}",
    rf"{_GAP}{_OF_GROUPS} (?:does|did) not exist",
)
"""Ways to call the groups equal, or their gap none."""
_TRUE_NULL = phrases_of(
    r"nullhypothesis (?:is|was|has been|stands|must be|is hereby|turns out|proves) (?:(?:\w+ )?(?:to be )?)?(?:proven|proved|confirmed|verified|established|demonstrated|shown|true|correct|right|a fact|vindicated|accurate)",
    r"(?:truth|correctness|validity) of (?:the )?nullhypothesis",
)
"""Ways to call the hypothesis of no difference true."""
_CERTAIN = phrases_of(
    r"prov(?:es?|ed|en|ing)|proofs?|demonstrat\w+|establish(?:es|ed|ing)?|confirm(?:s|ed|ing)?|verif(?:y|ies|ied|ying)|certain(?:ly|ty)?|sure|known?|guarantee\w*|definite(?:ly)?|conclusive(?:ly)?|settled|settles|shown(?: that| to)?"
    r"|demonstrably|provably|undoubtedly|indisputabl[ey]|unquestionabl[ey]|incontrovertibl[ey]|fact|assured|convinced|show(?:s|ed)?(?= (?:that|equality|independence))",
    r"beyond (?:any |all )?(?:reasonable |shadow of a )?doubt|rest assured|rul(?:e|es|ed|ing) out any|exclud(?:e|es|ed|ing) any",
)
_CERTAIN_OF_NULL = phrases_of(
    r"(?:prov\w+|confirm\w*|verif\w+|establish\w*|demonstrat\w*|validat\w+) (?:that )?(?:the )?(?:nullhypothesis|equality|independence)",
    rf"(?:rul(?:e|es|ed|ing) out|exclud(?:e|es|ed|ing)|disprov\w+|refut\w+) (?:any|every|all|the existence of an?y?) (?:\w+ )?{_GAP}",
    r"(?:equality|independence|nullhypothesis|equal treatment) (?:is|was|has been|stands|is hereby)(?: hereby| now| thereby| thus)? (?:\w+ )?(?:proven|proved|confirmed|verified|established|demonstrated|shown|certain)",
)
_OPEN = phrases_of(
    r"(?:may|might|could)(?! (?:\w+ )?(?:conclude|say|state|take|regard|call))|possibly|perhaps|if|whether|assum\w+|suppos\w+|would|believ\w+|ask\w*"
)
"""What leaves open whether something is so."""


def proves_equality(clause: str) -> bool:
    """Tell whether a clause calls it proven that the groups are equal."""
    if cautions(clause) or _OPEN.search(clause):
        return False
    plain = plainly(clause)
    if _TRUE_NULL.search(plain) or _CERTAIN_OF_NULL.search(plain):
        return not denied(plain)
    certain, equal = _CERTAIN.search(clause), _EQUAL.search(clause)
    return bool(certain and equal) and not denies_equality(clause)


def cautions(clause: str) -> bool:
    """Tell whether a clause says that equality is not proven."""
    certain = _CERTAIN.search(clause) or _CERTAIN_OF_NULL.search(plainly(clause))
    if not certain or not (_EQUAL.search(clause, certain.end()) or "null" in clause):
        return False
    return denied(plainly(clause[: certain.start()]))


def claims_equality(clause: str) -> bool:
    """Tell whether a clause calls the groups equal, or their gap none."""
    match = _EQUAL.search(clause)
    return match is not None and not _GUARD.search(clause) and not denies_equality(clause)


def denies_equality(clause: str) -> bool:
    """Tell whether what would call the groups equal stands denied."""
    match = _EQUAL.search(clause)
    return match is not None and denied(plainly(clause[: match.start()]))
