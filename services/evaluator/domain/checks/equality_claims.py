"""What a clause says of equality: that the groups are alike, or that this is proven.

Equality is claimed by what is equal (the groups, their rates), or by a gap that is none. What is
supposed, asked for, or said of evidence or of an interval's values claims no equality.
"""

from services.evaluator.domain.checks.evidence_words import NOT, plainly
from services.evaluator.domain.checks.phrases import phrases_of, words_of

_SUPPOSED = (
    "if|would|whether|hypothes\\w+|null|suppos\\w+|assum\\w+|question|claim\\w*|idea|were there"
)
_OF_VALUES = "values?|possib\\w+|plausib\\w+|compatible|consistent|includ\\w+|exclud\\w+|contain\\w*|rul(?:e|ed|es) out|interval"
_OF_EVIDENCE = "significan\\w*|statistical\\w*|evidence|detect\\w*|expect\\w*|conclusion|fail\\w*|necessarily|cannot|yet"
_OF_FACTORS = "than|times|as likely|likely as|far from|direction|means?(?: that)?|wrong|size|sample size|number of"
_GUARD = phrases_of(_SUPPOSED, _OF_VALUES, _OF_EVIDENCE, _OF_FACTORS)
"""What shows that a clause does not simply call the groups equal."""

_NO = "(?:no|not any|neither a|zero|not (?:even )?(?:the|a|one) (?:slightest|least|single|smallest|faintest|shred of|trace of a)) (?:(?:real|actual|true|such|further|meaningful|systematic|relevant|underlying) )*"
_GAP = words_of(
    r"differences? disparit\w+ gap effect associations? link relationship inequality imbalance bias"
    r" distinction divide contrast connection correlation"
)
_GROUPS = (
    "(?:<g[01]> and (?:the )?<g[01]>|(?:the|these|both|two) (?:two )?(?:groups?|rates|sides|shares|means|averages|chances|odds)"
    "|both(?: groups)?|they|groups?|group and outcome|outcomes?(?: and group)?)"
)
_SHOWS = words_of(
    r"there\s(?:is|was|are) shows? showed proves? proved demonstrates? confirm(?:s|ed)? establish\w*"
    r" conclude[sd]? found find finds see saw has have makes? made exhibits? reveals? revealed"
)
_FARES = words_of(
    "are were is was fare fared do did have had share get got enjoy receive[sd]? treated"
)
_EQUALLY = (
    "(?:equal(?:ly)?|alike|(?:one and )?the same|identical(?:ly)?|equivalent|unrelated|independent|even|on a par"
    "|on equal terms|level|unconnected|indistinguishable|just as \\w+)"
)
_HAS = words_of(
    r"have has had shar(?:e|ed) enjoy\w* faces? get got received? at show\w* prove\w* confirm\w*"
    r" demonstrat\w* establish\w*"
)
_CHANCES = words_of(r"chances? odds rates? probabilit\w+ likelihood risks? treatment outcomes?")
_NOTHING = "(?:exactly |precisely |truly |really |in truth |in fact )?(?:zero|nil|nothing|non-?existent|absent|none|naught)"
_EQUAL = phrases_of(
    rf"{_SHOWS} (?:that )?(?:there (?:is|was) )?{_NO}{_GAP}",
    rf"{_NO}{_GAP} (?:exists?|existed|between|is present)",
    rf"absence of (?:any |an? )?(?:\w+ )?{_GAP}",
    rf"{_GROUPS} (?:do|did|does)(?: not|n[\u2019']t) differ",
    rf"{_GROUPS}(?: of the (?:two )?groups)? {_FARES} (?:(?!not\b)\w+ ){{0,3}}?{_EQUALLY}",
    r"(?:rates?|shares?|means?|averages?|chances?|odds|probabilit\w+) (?:is|are|was|were) (?:(?!not\b)\w+ )?(?:one and the same|the same|identical|equal) (?:for|in|among) (?:both|<g[01]>|the two|either)",
    rf"{_HAS} (?:\w+ ){{0,2}}?(?:the same|an? equal|identical|equal) {_CHANCES}",
    rf"(?:show|shows|prove|proves|find|finds|found|reveals?|declare[sd]?) {_GROUPS} to be {_EQUALLY}",
    r"(?:exactly |precisely |quite )?(?:the same|an? (?:equal|identical)) (?:rate|share|chance|mean|average|probability|risk|proportion) (?:was|is|were|are|has been|applies|holds)?[^;]*? (?:for|in|among|by) (?:the )?<g[01]>[^;]*<g[01]>",
    "equally (?:well|often|likely|frequently|common)",
    "equal treatment|plays? no (?:role|part)|played no (?:role|part)",
    r"fair to (?:both|all|each)|groups fare (?:equal|alike)\w*",
    "equality is (?:shown|proven|established|confirmed)",
    "(?:proves?|proved|confirms?|shows?|demonstrates?) equality",
    r"(?:does|did|do) not (?:matter|depend on (?:the )?(?:group|<g[01]>))",
)
"""Ways to call the groups equal."""
_GAP_IS_NONE = phrases_of(
    rf"{_GAP}(?: (?:between|in|of|for|among)(?: (?:the )?[\w<>]+){{1,6}}?)? (?:is|was|equals|amounts to|comes to) {_NOTHING}",
    rf"{_GAP}(?: (?:between|in|of|for|among)(?: (?:the )?[\w<>]+){{1,6}}?)? (?:does|did) not exist",
)
"""Ways to call a gap none."""
_PROVES = r"(?:prov(?:es?|ed|en|ing)|demonstrat(?:es?|ed|ing)|establish(?:es|ed|ing)?|confirm(?:s|ed|ing)?|verif(?:y|ies|ied|ying))"
_PROVEN = phrases_of(
    rf"(?:absence of (?:any |an? )?(?:\w+ )?{_GAP}|equality|equal treatment)"
    r"\b[^;]*\b(?:established|shown|confirmed|proven|proved|demonstrated|verified)",
    rf"{_PROVES} that\b[^;]*\b(?:not differ|(?:are|is|were|was) (?:\w+ )?{_EQUALLY}|(?:are|were) treated {_EQUALLY})",
    rf"(?:rul(?:e|es|ed|ing) out|exclud(?:e|es|ed|ing)) any {_GAP}",
    rf"{_PROVES} that (?:the )?null(?:hypothesis| hypothesis)? (?:is|was) (?:true|right|correct)",
    rf"{_PROVES} (?:the )?(?:null(?:hypothesis| hypothesis)?|(?:hypothesis of )?(?:equality|independence|no {_GAP}))",
    r"(?:null(?:hypothesis| hypothesis)?|equality|independence) (?:is|was|has been|stands|is hereby) (?:\w+ )?(?:proven|proved|confirmed|verified|established|demonstrated|true)",
    rf"(?:certain|sure|know|known|beyond (?:any )?(?:reasonable )?doubt|guarantee\w*|definitely|conclusive\w*|proof|proves?|proven|proved)\b[^;]*\b{_NO}{_GAP}",
    rf"(?:shown|proven|proved|established|demonstrated|confirmed)[^;]*\bthat\b[^;]*\b{_GAP}\b[^;]*\b(?:is|was) {_NOTHING}",
)
"""Ways to call it proven that the groups are equal."""


def proves_equality(clause: str) -> bool:
    """Whether a clause calls it proven that the groups are equal."""
    found = _PROVEN.search(clause)
    return (
        found is not None and not _denied(clause[: found.start()]) and not denies_equality(clause)
    )


def claims_equality(clause: str) -> bool:
    """Whether a clause calls the groups equal, or their gap none."""
    said = _EQUAL.search(clause) or _GAP_IS_NONE.search(clause)
    return said is not None and not _GUARD.search(clause) and not denies_equality(clause)


def denies_equality(clause: str) -> bool:
    """Whether what would call the groups equal stands denied."""
    found = _EQUAL.search(clause)
    return found is not None and _denied(clause[: found.start()])


def _denied(before: str) -> bool:
    return len(NOT.findall(plainly(before))) % 2 == 1
