"""Which group a sentence says has more, or less, by one grammar: who, how, and beside whom.

A comparison is a comparative ("more often", "trails", "a lower rate") and the groups of its clause.
A group behind "than", "compared with" and the like, or behind a verb that takes one ("exceeds",
"falls short of"), is what is compared with; of the others, a comparative belongs to the only one,
or, where comparatives and groups alternate, to its neighbour.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_MANNER = r"(?:likely|often|frequent(?:ly)?|common(?:ly)?|apt|prone|probabl[ey]|numerous|regularly|readily|usual(?:ly)?|prevalent)"
_OVER = (
    r"exceed(?:s|ed|ing)?|surpass(?:es|ed|ing)?|outstrip(?:s|ped|ping)?|outpac(?:es?|ed|ing)|outscor(?:es?|ed|ing)|outnumber(?:s|ed|ing)?|outrank(?:s|ed)?"
    r"|outperform(?:s|ed)?|outdo(?:es)?|outdid|top(?:s|ped|ping)|beat(?:s|ing)?|leads?(?!\s+to)|led(?!\s+to)|dwarf(?:s|ed)?|overtak(?:es?|ing)|overtook"
    r"|overshadow(?:s|ed)?|tower(?:s|ed)?\s+over|eclips(?:es?|ed)"
)
_SHORT = (
    r"trail(?:s|ed|ing)?(?:\s+behind)?|lag(?:s|ged|ging)?(?:\s+behind)?|(?:fall|falls|fell|falling)\s+(?:short|behind)(?:\s+of)?|(?:comes?|came|stands?|stood|is|are|was|were|be|run|runs)\s+(?:short|behind)(?:\s+of)?"
    r"|undercut(?:s|ting)?|(?:(?:do|does|did)\s+not|never|cannot|could\s+not|fail(?:s|ed)?\s+to)\s+(?:reach|match|attain|keep\s+up\s+with|come\s+up\s+to|equal)(?:\s+the\s+(?:rate|level|share|mean|average)s?\s+of)?"
)
MORE = (
    rf"more\s+{_MANNER}|likelier|oftener|higher|highest|greater|greatest|larger|largest|bigger|biggest|longer|longest|stronger|strongest|increased|elevated|raised|superior"
    r"|over-?\s?represented|comparatively\s+often|better|best|relatively\s+often|upper\s+hand|(?:an?|the|with)\s+(?:\w+\s+)?edge|head\s+start|(?:is|are)\s+up|and\s+up|ahead|above|top"
    rf"|first|excess|surplus|(?:lean|tilt|tip|skew|swing|point)(?:s|ed)?\s+(?:towards?|to|in\s+(?:the\s+direction|favou?r)\s+of)|predominat\w+|more|{_OVER}|>"
)
LESS = (
    rf"(?:less|more\s+in)\s*{_MANNER}|lower|lowest|smaller|smallest|weaker|weakest|shorter|shortest|poorer|poorest|decreased|reduced|diminished|depressed|inferior|worse|worst|rarer|rarest"
    r"|more\s+(?:rarely|seldom)|under-?\s?represented|fewer(?:\s+in\s+proportion)?|fewest|not\s+as\s+many|not\s+as\s+(?:likely|often|frequently|high)|(?:is|are)\s+down|below|beneath|behind|bottom|last|dwarfed"
    rf"|shortfall|deficit|deficient|lesser|least|less|{_SHORT}"
)
_COMPARATIVE = re.compile(
    rf"(?<![\w<])(?:(?P<less>{LESS})|(?P<more>{MORE}))(?![\w>])|(?<!\w)(?P<gt>>)(?=\s<g)|(?P<lt><)(?=\s<g)"
)
_GROUP = re.compile(r"<g(?P<g>[01])>")
_LEAD = (
    r"(?:(?:it\s+(?:is|was)|they\s+(?:are|were)|those?|that|the\s+ones?|what|it|is|was|were|if|you|are|be|one|any|all|someone|anyone|anybody|somebody|persons?|people|members?|individuals?|applicants?|recorded|observed|seen|found|obtained|their|counterparts?|peers?|answers?|prompts?|concern(?:s|ing)?|who|which|with|for|among|amongst|of|by|in|about|the|an?|to|on"
    r"|(?:rate|share|odds|chances?|risk|mean|average|proportion|figure|score|likelihood|probability|result|case|group)s?),?\s+)*"
)
_REFERENCE = re.compile(
    rf"(?:\bthan|\bcompar(?:ed|ison)\s+(?:with|to)|\brelative\s+to|\bversus|\bvs\.?|\bas\s+against|\bagainst|\bcontrast\s+(?:with|to)|\bas\s+opposed\s+to|\bopposite"
    rf"|\bunlike|\brather\s+than|\binstead\s+of|\bnext\s+to|\bbeside|\balongside|\bwhereas\s+that\s+of|\bahead\s+of|\babove|\bover|\bbelow|\bbeneath|\bbehind|\bnot"
    rf"|\b(?<!such\s)as|\bshort\s+of|\bfollowed\s+by|\s[<>]|\b(?:{_OVER}|{_SHORT})|\bedge\s+on|\badvantage\s+over|\bin\s+respect\s+of|\bthose\s+from)"
    rf"\s+{_LEAD}$"
)
_PASSIVE = re.compile(
    r"\b(?:exceeded|dwarfed|outstripped|topped|surpassed|outnumbered|outpaced|outscored|overtaken|beaten|outperformed|outranked|outdone|eclipsed|overshadowed|led)\b[^;<]*\bby\b"
)
_NOT_BUT = re.compile(r"\bnot\s+(?:the\s+)?<g(?P<a>[01])>\s+but\b")
_AND_NOT = re.compile(r"<g[01]>,?\s+(?:and\s+)?not\s+(?:the\s+)?<g[01]>")
_CLAUSE = re.compile(
    r"[;?.]\s|:\s(?!<g)|:\s(?=<g[01]>\s+\w)|\s\u2013\s|,?\s+\b(?:but|whereas|while|whilst|although)\b"
)
_SKIPPED = re.compile(
    r"<m:(?!odds)|\binterval|\bp-?\s*value|\bbound|\blimit\b|\bconfidence|\bevidence|\bsample\s+size|(?:number\s+of|enough|few|many)\s+cases\b|\bif\b(?!\s+(?:anything|you|it\s+were|one))|\bwhether\b(?!\s+(?:pooled|crude|adjusted|unadjusted))"
    r"|\bwould\s+(?:mean|point|indicate|favou?r)|\bmean(?:s|ing)\s+that\b|\b(?:a|any)\s+(?:ratio|value|number|difference)\b(?=[^;]*\b(?:above|below|greater|smaller|larger|less)\b)"
)
_IDLE = re.compile(
    r"\bnot\s+(?:less|more|lower|higher)\s+but\b|\bmore\s+or\s+less\b|\bat\s+(?:least|most|first|last)\b|\bmore\s+than\s+(?=(?:chance|luck|<n|one\b|half\b|a\b|we))"
    r"|\bless\s+than\s+(?=<n)|\b(?:above|below|over)\s+(?=<n|one\b)|\bfirst\s+of\s+all\b|\b(?:the\s+)?last\s+of\b|\bbetween\b|\bfurther\b|\bmoreover\b|\b(?:first|last|top)\s+(?:group|number|figure|percentage|count|rate|value|of\s+(?:these|them|the))\b"
    r"|\b(?:no|not)\s+(?:fewer|less|more)\s+than\b"
)
OUTRIGHT = re.compile(
    rf"\b(?:{_OVER}|{_SHORT}|(?:lean|tilt|tip|skew|swing)\w*|ahead|behind|edge|higher|lower)\b|\s[<>]\s<g"
)
"""Comparatives that need no word for what is compared."""


@dataclass(frozen=True)
class ComparedGroup:
    """That one group has more, or less, than the other."""

    group: int
    more: bool
    start: int
    end: int
    """Where the clause lies that says so."""


def compared_groups(pattern: str) -> list[ComparedGroup]:
    """Return which groups are said to have more or less; nothing where a sentence leaves it open."""
    text = _unturned(_NOT_BUT.sub(lambda each: " " * len(each[0]), pattern))
    found: list[ComparedGroup] = []
    at = 0
    for end in [*(each.start() for each in _CLAUSE.finditer(text)), len(text)]:
        found += _in_clause(text[at:end], at)
        at = end
    if not found:
        found = list(_in_clause(text, 0))
    claims = {(each.group == 0) is each.more for each in found}
    return found if len(claims) == 1 else []


def _in_clause(clause: str, at: int) -> Iterator[ComparedGroup]:
    if _SKIPPED.search(clause):
        return
    comparatives = [
        (each.start(), each["less"] is None and each["lt"] is None)
        for each in _COMPARATIVE.finditer(clause)
    ]
    groups = [(each.start(), int(each["g"])) for each in _GROUP.finditer(clause)]
    if not comparatives or not groups:
        return
    span = (at, at + len(clause))
    passive = _PASSIVE.search(clause)
    if passive and len({group for _, group in groups}) == 2:
        before = [group for place, group in groups if place < passive.start()]
        if before:
            yield ComparedGroup(before[-1], False, *span)
    elif paired := _alternating(comparatives, groups):
        yield from (ComparedGroup(group, more, *span) for group, more in paired)
    elif len({more for _, more in comparatives}) == 1:
        yield from _of_one_kind(comparatives[0], groups, clause, span)


def _of_one_kind(
    comparative: tuple[int, bool],
    groups: Sequence[tuple[int, int]],
    clause: str,
    span: tuple[int, int],
) -> Iterator[ComparedGroup]:
    """Return the group a comparative belongs to: the one that is not what is compared with."""
    own = [g for g in groups if not _REFERENCE.search(clause[: g[0]])]
    names = {group for _, group in own}
    if len(names) == 2 and "becomes" in clause:
        return
    if len(names) == 1:
        yield ComparedGroup(names.pop(), comparative[1], *span)
    elif len(names) == 2:
        yield from _nearest(comparative, own, clause, span)
    elif len({group for _, group in groups}) == 1:
        yield ComparedGroup(1 - groups[0][1], comparative[1], *span)


def _nearest(
    comparative: tuple[int, bool],
    own: Sequence[tuple[int, int]],
    clause: str,
    span: tuple[int, int],
) -> Iterator[ComparedGroup]:
    """Read the piece between commas that has the comparative, where it names one group alone."""
    place, more = comparative
    first = clause.rfind(",", 0, place) + 1
    last = clause.find(",", place)
    last = len(clause) if last < 0 else last
    inside = {group for at, group in own if first <= at < last}
    if len(inside) == 1:
        yield ComparedGroup(inside.pop(), more, *span)


def _alternating(
    comparatives: Sequence[tuple[int, bool]], groups: Sequence[tuple[int, int]]
) -> list[tuple[int, bool]]:
    """Return each group with its comparative, where two of each take turns and differ."""
    if not len(comparatives) == 2 == len(groups) or groups[0][1] == groups[1][1]:
        return []
    places = [(at, "c") for at, _ in comparatives] + [(at, "g") for at, _ in groups]
    order = "".join(kind for _, kind in sorted(places))
    if order not in {"cgcg", "gcgc", "cggc", "gccg"} or comparatives[0][1] == comparatives[1][1]:
        return []
    return [(group, more) for (_, group), (_, more) in zip(groups, comparatives, strict=True)]


def _unturned(clause: str) -> str:
    """Blank out comparatives that compare no groups, and those that are denied to be corrected."""
    return _IDLE.sub(lambda each: " " * len(each[0]), clause)
