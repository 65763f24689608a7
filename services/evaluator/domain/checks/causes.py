"""Words that name a cause, or a group's nature, where statistics can show neither."""

import re
from collections.abc import Iterator

from services.evaluator.domain.checks.denials import is_denied, is_open
from services.evaluator.domain.checks.wording import Wording
from services.evaluator.domain.rubric import Profile

_CAUSES = (
    r"\bcaus(?:e|es|ed|ing|al(?:ly)?)\b|\bbecause\b|\bdue\s+to\b|\bowing\s+to\b"
    r"|\bleads?\s+to\b|\bled\s+to\b"
    r"|\bleading\s+to\b|\bresult(?:s|ed|ing)?\s+(?:in|from)\b|\b(?:a"
    r"|the)\s+result\s+of\b|\bdriv(?:en\s+by|es|ing)\b|\bdrove\b"
    r"|\bexplain(?:s|ed\s+by)\b|\bresponsible\s+for\b|\battributable\s+to\b|\battributed\s+to\b"
    r"|\bthe\s+(?:effects?|impact|influence)\s+of\b|\b(?:an?|its"
    r"|their)\s+(?:effect|impact|influence)\s+on\b"
    r"|\binfluence[sd]?\b|\baffect(?:s|ed)\b|\bmakes?\b[^.;,]{0,40}\b(?:more"
    r"|less)\s+likely\b|\bdetermine[sd]?\b|\bthanks\s+to\b"
    r"|\bstem(?:s|med)?\s+from\b|\bthe\s+(?:\w+\s+)?reason\s+(?:for|why|that)\b"
    r"|\bconsequence\s+of\b|\bproduce[sd]?\s+by\b"
    r"|\b(?:raises|raised|lowers|lowered|increases|reduces|decreases|boosts"
    r"|boosted|hurts|harms)\s+(?:the\s+|one's\s+|a\s+person's\s+|their\s+)?"
    r"(?:odds|chances?|risks?|likelihood|probability|rates?|prospects)\b"
)
_MORE_CAUSES = (
    r"|(?<!data )(?<!documents )(?<!records )(?<!evidence )(?<!figures )\bproduce[sd]?\b|\bcreate[sd]?\b|\bbrings?\s+(?:it\s+)?about\b|\bbrought\s+about\b"
    r"|\bdepress(?:es|ed)\s+(?:the|their|its|<g)|\bon\s+account\s+of\b|\btraced?\s+(?:back\s+)?to\b"
    r"|\baccounts?\s+for\b(?!\s+<n)|\breflects?\b(?=[^;]*\b(?:discriminat|bias|prejudice))|\b(?:has|have)\s+(?:its|their)\s+roots?\s+in\b|\brooted\s+in\b"
    r"|\bthe\s+(?:work|product|fruit|outcome)\s+of\b|\ba\s+product\s+of\b|\b(?:lies?|lay)\s+behind\b|\bbehind\s+(?:the|this)\s+(?:gap|disparity|difference)\b"
    r"|\bunderl(?:y|ies|ie|ay)\b|\bmade\s+(?:all\s+)?the\s+difference\b|\bblam(?:e|es|ed|ing)\b|\bto\s+blame\b|\bby\s+virtue\s+of\b"
    r"|\bholds?\b[^.;,]{0,30}\bback\b|\bheld\b[^.;,]{0,30}\bback\b|\bcosts?\s+<g|\bcomes?\s+(?:down\s+to|from)\b(?=[^;]*\b(?:bias|prejudice|discriminat))"
    r"|\bbrought\b[^.;]{0,40}\babout\b|\bdecides?\b|\bhad\s+(?:the\s+)?<g\d>\s+been\s+(?:the\s+)?<g\d>"
    r"|\bthat\s+is\s+why\b|\bwhich\s+is\s+why\b|\bas\s+a\s+(?:direct\s+)?(?:effect|result|consequence)\b|\bdirect\s+effect\b"
    r"|\b(?:prov|show|demonstrat|confirm|reveal|establish|mean|expos|document)\w*\s+(?:that\s+)?(?:[\w<>:'-]+\s+){0,6}?(?:discriminat\w*|prejudice\w*|racis[mt]\w*|sexis[mt]\w*|biased|unfair\w*|bigot\w*)"
    r"|\b(?:makers?|officers?|managers?|staff|judges?|they|recruiters?|employers?|courts?|banks?|lenders?|officials?|(?<!the\s)process|system|model)\s+(?:\w+\s+)?(?:discriminate[sd]?|prefers?|preferred|disfavou?r\w*|mistreat\w*)\b"
    r"|\bif\s+(?:the\s+)?<g\d>\s+(?:were|had\s+been)\b[^.;]*\b(?:disappear|vanish|close|end)\b[^.;]*\b(?:prove|show|demonstrate)"
    r"|\bcausal\s+(?:link|connection|relationship|effect|role|influence|chain|mechanism)\b|\bonly\s+(?:possible\s+)?(?:cause|reason|explanation)\b"
    r"|\b(?:changes?|changed|alters?|altered|shapes?|shaped|dictates?|dictated|governs?|governed|decides?|decided)\s+(?:the\s+|their\s+|one's\s+)?(?:outcomes?|results?|rates?|odds|chances?)\b"
    r"|\b(?:chose|choos\w+|chosen|decid\w+|judg\w+|select\w*|treat\w*|act(?:ed|s)?|sort\w*|made)\b[^.;]{0,40}\b(?:on\s+(?:the\s+)?(?:basis|grounds?|strength)\s+of|by\s+reason\s+of|according\s+to)\s+(?:the\s+|their\s+)?(?:group|<g|sex|race|gender|origin|ethnic)"
    r"|\bcausation\b[^;]{0,40}\b(?:established|proven|proved|shown|demonstrated|certain|clear)\b"
    r"|\bif\s+(?:the\s+)?<g\d>\s+(?:were|had\s+been)\b[^.]*\b(?:proof|prove[sdn]?|demonstrat\w+|establish\w*)\b"
    r"|\b(?:proof|evidence)\s+(?:of|for|that)\s+(?:\w+\s+){0,3}?(?:discriminat\w*|unequal\s+treatment|prejudice\w*|intent\w*|favou?ritism|unfair\w*|racism|sexism)"
    r"|\bdecisive\s+factor\b|\bpenali[sz]ed?\b|\battribution\s+of\b"
)
_CAUSE = re.compile(_CAUSES + _MORE_CAUSES, re.IGNORECASE)
_GROUPED = re.compile(
    r"<g[01]>|\bgroup\s+(?:and|to|itself)\b|\b(?:between|of|by|from|on)\s+(?:the\s+)?group\b|\bgroup\s+(?:is|was|has|had|ha[sd]|makes?|made|plays?|drives?|drove|causes?|caused|determines?|determined|decides?|decided|explains?|explained|affects?|influences?)\b|\bgroup\s+membership\b|\bmembership\b|\bbelonging\b|\bgender\b"
    r"|\bsex\b|\brac(?:e|ial)\b|\bethnic\w*|\bnationalit\w+"
    r"|\borigins?\b|\bbackground\b|\breligio\w+|\bage\b|\bdiscriminat\w+"
    r"|\bbias(?:ed)?\b|\bprejudice\w*|\bstereotyp\w+|\bhostil\w+|\bunfair\w*|\bunequal\b|\bwho\s+(?:they|people)\s+are\b|\bracis[mt]\w*|\bsexis[mt]\w*"
    r"|\battitudes?\b|\bbehav\w+|\btreatment\b|\bpreferred\b|\brates\s+differ\b"
    r"|\bidentit\w+|\bculture\w*|\bnature\b|\bability\b|\bconduct\b"
    r"|\bdisparit\w+|\binequalit\w+|\bbeing\s+(?:an?\s+)?<g",
    re.IGNORECASE,
)
_SAYING = re.compile(
    r"\bbecause\s+(?:the\s+)?(?:p-?\s*value|interval|one\s+is\b|(?:confidence|lower|upper)\b|no\s+difference\b|zero\b|<n\d+>|<m:|both\b|its\b"
    r"|the\s+(?:whole\s+)?(?:confidence|lower|upper|sample|number|counts?))",
    re.IGNORECASE,
)
_CHANCE_BEFORE = re.compile(r"\b(?:chance|luck|random\w*|noise|sampling)\b[^;,]{0,40}$")
_BY_CHANCE = re.compile(r"\s+(?:\w+\s+){0,2}(?:chance|luck|random\w*|noise|sampling)\b")


def cause_faults(wording: Wording) -> Iterator[tuple[str, str]]:
    """Return a fault for every cause that is claimed of a group or of a disparity.

    What is denied ("cannot show that sex caused it"), asked or called possible claims nothing.
    """
    text = wording.pattern
    if not _GROUPED.search(text) or wording.text.rstrip().endswith("?"):
        return
    for found in _CAUSE.finditer(text):
        if (
            _SAYING.match(text, found.start())
            or _CHANCE_BEFORE.search(text, 0, found.start())
            or _BY_CHANCE.match(text, found.end())
            or is_denied(text, found.start())
            or is_open(text, found.start())
        ):
            continue
        yield "cause", f"The words {found[0]!r} name a cause, which these statistics cannot show."
        return


def speaks_of_causes(wording: Wording) -> bool:
    """Whether a sentence is read as naming a cause, be it claimed, denied or asked for."""
    return bool(_GROUPED.search(wording.pattern) and _CAUSE.search(wording.pattern))


def attribution_faults(sentence: str, profile: Profile) -> Iterator[tuple[str, str]]:
    """Return a fault for every red flag of the profile that is not denied."""
    for flag in profile.flags.finditer(sentence):
        if not is_denied(sentence, flag.start()):
            said = f"may attribute the outcome to {profile.attribution}: read that sentence."
            yield "attribution", f"The words {flag[0]!r} {said}"
