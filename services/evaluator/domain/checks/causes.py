"""Words that name a cause, or a group's nature, where statistics can show neither."""

import re
from collections.abc import Iterator

from biaswatch.services.evaluator.domain.checks.denials import is_denied, is_open
from biaswatch.services.evaluator.domain.checks.phrases import each_stem, each_whole, one_of, sought
from biaswatch.services.evaluator.domain.checks.wording import Wording
from biaswatch.services.evaluator.domain.rubric import Profile

# What several ways to name a cause share.
_OF_THEM = r"(?:the\s+|their\s+|one's\s+)?"
_OUTCOMES = one_of("outcomes?, results?, rates?, odds, chances?")
_WRONG = r"discriminat\w*|prejudice\w*|racis[mt]\w*|sexis[mt]\w*|biased|unfair\w*|bigot\w*"
_WHAT_IS_FOUND = ("data", "documents", "records", "evidence", "figures")
"""What produces numbers and no outcomes."""

# That something is the cause.
_CAUSES = (
    r"\bcaus(?:e|es|ed|ing|al(?:ly)?)\b",
    r"\bbecause\b",
    *each_whole("due to, owing to, leads? to, led to, leading to"),
    *each_whole("result(?:s|ed|ing)? (?:in|from), (?:a|the) result of"),
    *each_whole("driv(?:en by|es|ing), drove, explain(?:s|ed by), responsible for"),
    *each_whole("attributable to, attributed to, the (?:effects?|impact|influence) of"),
    *each_whole("(?:an?|its|their) (?:effect|impact|influence) on"),
    *each_whole("influence[sd]?, affect(?:s|ed)"),
    r"\bmakes?\b[^.;,]{0,40}\b(?:more|less)\s+likely\b",
    *each_whole("determine[sd]?, thanks to, stem(?:s|med)? from"),
    r"\bthe\s+(?:\w+\s+)?reason\s+(?:for|why|that)\b",
    *each_whole("consequence of, produce[sd]? by"),
)
_CHANGES_CHANCES = (
    r"\b"
    + one_of(
        "raises, raised, lowers, lowered, increases, reduces, decreases, boosts, boosted, hurts,"
        " harms"
    )
    + r"\s+(?:the\s+|one's\s+|a\s+person's\s+|their\s+)?"
    + one_of("odds, chances?, risks?, likelihood, probability, rates?, prospects")
    + r"\b"
)
_MAKES = (
    "".join(f"(?<!{each} )" for each in _WHAT_IS_FOUND) + r"\bproduce[sd]?\b",
    *each_whole("create[sd]?, brings? (?:it )?about, brought about"),
    r"\bdepress(?:es|ed)\s+(?:the|their|its|<g)",
    *each_whole("on account of, traced? (?:back )?to"),
    r"\baccounts?\s+for\b(?!\s+<n)",
    r"\breflects?\b(?=[^;]*\b(?:discriminat|bias|prejudice))",
    *each_whole("(?:has|have) (?:its|their) roots? in, rooted in"),
    *each_whole("the (?:work|product|fruit|outcome) of, a product of, (?:lies?|lay) behind"),
    *each_whole("behind (?:the|this) (?:gap|disparity|difference)"),
    *each_whole("underl(?:y|ies|ie|ay), made (?:all )?the difference, blam(?:e|es|ed|ing)"),
    *each_whole("to blame, by virtue of"),
    r"\bholds?\b[^.;,]{0,30}\bback\b",
    r"\bheld\b[^.;,]{0,30}\bback\b",
    r"\bcosts?\s+<g",
    r"\bcomes?\s+(?:down\s+to|from)\b(?=[^;]*\b(?:bias|prejudice|discriminat))",
    r"\bbrought\b[^.;]{0,40}\babout\b",
    r"\bdecides?\b",
    r"\bhad\s+(?:the\s+)?<g\d>\s+been\s+(?:the\s+)?<g\d>",
    *each_whole("that is why, which is why"),
    *each_whole("as a (?:direct )?(?:effect|result|consequence), direct effect"),
)
_SHOWN = one_of("prov, show, demonstrat, confirm, reveal, establish, mean, expos, document")
_DECIDERS = one_of(
    "makers?, officers?, managers?, staff, judges?, they, recruiters?, employers?, courts?, banks?,"
    r" lenders?, officials?, (?<!the\s)process, system, model"
)
_MISTREAT = one_of(r"discriminate[sd]?, prefers?, preferred, disfavou?r\w*, mistreat\w*")
_CHOSE = one_of(
    r"chose, choos\w+, chosen, decid\w+, judg\w+, select\w*, treat\w*, act(?:ed|s)?, sort\w*, made"
)
_BY_THE = one_of("on (?:the )?(?:basis|grounds?|strength) of, by reason of, according to")
_MEMBERSHIP = one_of("group, <g, sex, race, gender, origin, ethnic")
_SHAPES = one_of(
    "changes?, changed, alters?, altered, shapes?, shaped, dictates?, dictated, governs?, governed,"
    " decides?, decided"
)
_ILL_TREATMENT = one_of(
    r"discriminat\w*, unequal treatment, prejudice\w*, intent\w*, favou?ritism, unfair\w*, racism,"
    " sexism"
)
_IF_THEY_WERE = r"\bif\s+(?:the\s+)?<g\d>\s+(?:were|had\s+been)\b"
_PROVES = (
    rf"\b{_SHOWN}\w*\s+(?:that\s+)?(?:[\w<>:'-]+\s+){{0,6}}?(?:{_WRONG})",
    rf"\b{_DECIDERS}\s+(?:\w+\s+)?{_MISTREAT}\b",
    rf"{_IF_THEY_WERE}[^.;]*\b(?:disappear|vanish|close|end)\b[^.;]*\b(?:prove|show|demonstrate)",
    r"\bcausal\s+(?:link|connection|relationship|effect|role|influence|chain|mechanism)\b",
    *each_whole("only (?:possible )?(?:cause|reason|explanation)"),
    rf"\b{_SHAPES}\s+{_OF_THEM}{_OUTCOMES}\b",
    rf"\b{_CHOSE}\b[^.;]{{0,40}}\b{_BY_THE}\s+(?:the\s+|their\s+)?{_MEMBERSHIP}",
    r"\bcausation\b[^;]{0,40}\b(?:established|proven|proved|shown|demonstrated|certain|clear)\b",
    rf"{_IF_THEY_WERE}[^.]*\b(?:proof|prove[sdn]?|demonstrat\w+|establish\w*)\b",
    rf"\b(?:proof|evidence)\s+(?:of|for|that)\s+(?:\w+\s+){{0,3}}?{_ILL_TREATMENT}",
    *each_whole("decisive factor, penali[sz]ed?, attribution of"),
)
_CAUSE = sought(*_CAUSES, _CHANGES_CHANCES, *_MAKES, *_PROVES)

# What the cause is said to be: a group, what it is like, or how it is treated.
_GROUP_DOES = one_of(
    "is, was, has, had, ha[sd], makes?, made, plays?, drives?, drove, causes?, caused, determines?,"
    " determined, decides?, decided, explains?, explained, affects?, influences?"
)
_GROUPED = sought(
    "<g[01]>",
    *each_whole("group (?:and|to|itself), (?:between|of|by|from|on) (?:the )?group"),
    rf"\bgroup\s+{_GROUP_DOES}\b",
    *each_whole("group membership, membership, belonging, gender, sex, rac(?:e|ial)"),
    *each_stem("ethnic*, nationalit+"),
    *each_whole("origins?, background"),
    *each_stem("religio+"),
    *each_whole("age"),
    *each_stem("discriminat+"),
    *each_whole("bias(?:ed)?"),
    *each_stem("prejudice*, stereotyp+, hostil+, unfair*"),
    *each_whole("unequal, who (?:they|people) are"),
    *each_stem("racis[mt]*, sexis[mt]*"),
    *each_whole("attitudes?"),
    *each_stem("behav+"),
    *each_whole("treatment, preferred, rates differ"),
    *each_stem("identit+, culture*"),
    *each_whole("nature, ability, conduct"),
    *each_stem("disparit+, inequalit+"),
    r"\bbeing\s+(?:an?\s+)?<g",
)
_BECAUSE_OF_NUMBERS = (
    r"p-?\s*value",
    "interval",
    r"one\s+is\b",
    r"(?:confidence|lower|upper)\b",
    r"no\s+difference\b",
    r"zero\b",
    r"<n\d+>",
    "<m:",
    r"both\b",
    r"its\b",
    r"the\s+(?:whole\s+)?(?:confidence|lower|upper|sample|number|counts?)",
)
_SAYING = sought(rf"\bbecause\s+(?:the\s+)?(?:{'|'.join(_BECAUSE_OF_NUMBERS)})")
"""Why something is said, which is no cause of the outcome."""
_CHANCE_BEFORE = re.compile(r"\b(?:chance|luck|random\w*|noise|sampling)\b[^;,]{0,40}$")
_BY_CHANCE = re.compile(r"\s+(?:\w+\s+){0,2}(?:chance|luck|random\w*|noise|sampling)\b")


def cause_faults(wording: Wording) -> Iterator[tuple[str, str]]:
    """Return a fault for every cause that is claimed of a group or of a disparity.

    What is denied ("cannot show that sex caused it"), asked or called possible claims nothing.
    """
    text = wording.pattern
    if not _GROUPED.search(text) or wording.text.rstrip().endswith("?"):
        return
    for match in _CAUSE.finditer(text):
        if (
            _SAYING.match(text, match.start())
            or _CHANCE_BEFORE.search(text, 0, match.start())
            or _BY_CHANCE.match(text, match.end())
            or is_denied(text, match.start())
            or is_open(text, match.start())
        ):
            continue
        yield "cause", f"The words {match[0]!r} name a cause, which these statistics cannot show."
        return


def speaks_of_causes(wording: Wording) -> bool:
    """Tell whether a sentence is read as naming a cause, be it claimed, denied or asked for."""
    return bool(_GROUPED.search(wording.pattern) and _CAUSE.search(wording.pattern))


def attribution_faults(sentence: str, profile: Profile) -> Iterator[tuple[str, str]]:
    """Return a fault for every red flag of the profile that is not denied."""
    for flag in profile.flags.finditer(sentence):
        if not is_denied(sentence, flag.start()):
            message = f"may attribute the outcome to {profile.attribution}: read that sentence."
            yield "attribution", f"The words {flag[0]!r} {message}"
