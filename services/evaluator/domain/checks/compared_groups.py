"""Which group a sentence says has more, or less, by one grammar: who, how, and beside whom.

A comparison is a comparative ("more often", "trails", "a lower rate") and the groups of its clause.
A group behind "than", "compared with" and the like, or behind a verb that takes one ("exceeds",
"falls short of"), is what is compared with; of the others, a comparative belongs to the only one,
or, where comparatives and groups alternate, to its neighbour.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from biaswatch.services.evaluator.domain.checks.comparative_words import (
    BEFORE_OTHERS,
    BEHIND_OTHERS,
    LESS,
    MORE,
    OVER,
    RANKS,
    SHORT,
)

_COMPARATIVE = re.compile(
    rf"(?<![\w<])(?:(?P<less>{LESS})|(?P<more>{MORE}))(?![\w>])|(?<!\w)(?P<gt>>)(?=\s(?:\w+ (?:of |for |in )?)?<g)|(?P<lt><)(?=\s(?:\w+ (?:of |for |in )?)?<g)"
    rf"|(?<!\w)(?:(?P<ahead>{BEFORE_OTHERS})|(?P<after>{BEHIND_OTHERS}))(?!\w)"
)
_RANKED = re.compile(
    rf"(?:\b{RANKS}(?:\s+(?!not\b)[\w<>]+){{0,2}}|<g[01]>\s*,?|\s[-\u2013])\s+(?:at\s+|on\s+)?(?:the\s+)?$"
)
"""What a place in an order stands behind: a verb of rank, or a name."""
_NOT_MORE = re.compile(
    r"\b(?:not|no|never|hardly|scarcely|\w+n[\u2019']t)\s+(?:any\s+|at\s+all\s+|in\s+fact\s+|the\s+)*$"
)
_NOT_SHOWN_MORE = re.compile(
    r"\b(?:not|no|never|\w+n[\u2019']t)\b[^;,]*\b(?:significant\w*|statistical\w*|necessarily|demonstrabl\w+|detectabl\w+|reliabl\w+|shown|proven)\b"
)
_BRACKETED = re.compile(r"\s?[(\[]\s?(?P<group><g[01]>)\s?[)\]]")
_GROUP = re.compile(r"<g(?P<g>[01])>")
_LEAD = (
    r"(?:(?:<n\d+>|\w+(?=\s+(?:rates?|shares?|odds|chances?|means?|averages?|proportions?|probabilit))|when|where|every|each|of|prompts?|it\s+(?:is|was)|they\s+(?:are|were)|those?|that|the\s+ones?|what|it|is|was|were|if|you|are|be|one|any|all|someone|anyone|anybody|somebody|persons?|people|members?|individuals?|applicants?|recorded|observed|seen|found|obtained|their|from|counterparts?|peers?|answers?|prompts?|concern(?:s|ing)?|who|which|with|for|among|amongst|of|by|in|about|the|an?|to|on"
    r"|(?:rate|share|odds|chances?|risk|mean|average|proportion|figure|score|likelihood|probability|percentage|fraction|prevalence|incidence|frequency|result|case|group)s?),?\s+)*"
)
_LEAD_ALONE = _LEAD.replace(r",?\s+)*", r"\s+)*")
"""The same, without a comma."""
_REFERENCE = re.compile(
    rf"(?:\bthan|\bcompar(?:ed|ison)\s+(?:with|to)|\brelative\s+to|\bversus|\bvs\.?|\bas\s+against|\bagainst|\bcontrast\s+(?:with|to)|\bas\s+opposed\s+to|\bopposite"
    rf"|\bunlike|\brather\s+than|\binstead\s+of|\bnext\s+to|\bbeside|\balongside|\bwhereas\s+that\s+of|\bahead\s+of|\babove|\bover|\bunder|\bunderneath|\bbelow|\bbeneath|\bbehind|\bnot"
    rf"|\bshort\s+of|\bfollowed\s+by|\bno\s+longer|\b(?:inferior|superior)\s+to|\bbefore|\bafter|\bin\s+front\s+of|\s[<>](?:\s\w+)?|\b(?:{OVER}|{SHORT})|\bedge\s+on|\badvantage\s+over|\bin\s+respect\s+of|\bthose\s+from)"
    rf"\s+{_LEAD}$|\b(?<!such\s)as\s+{_LEAD_ALONE}$"
    r"|\b(?:than|compared\s+(?:with|to)|relative\s+to|versus|as\s+opposed\s+to|away\s+from)\s+(?:(?!and\b|but\b|while\b|<g)[\w<>:'-]+\s+){0,8}$"
)
_ONE_TO_OTHER = re.compile(
    r"\b(?:(?P<up>rises?|rose|climbs?|increases?|grows?|goes\s+up|ascends?|improves?|steps\s+up|mounts?)|(?P<down>falls?|fell|drops?|dropped|declines?|declined|decreases?|diminish\w*|goes\s+down|sinks?|descends?|shrinks?|tails\s+off))\b"
    r"[^;,<]*?\bfrom\s+(?:(?:the|that|those|of|for|among|in|at)\s+)*<g(?P<one>[01])>\s+(?:down\s+|up\s+)?to\s+(?:(?:the|that|those|of|for|among|in|at)\s+)*<g(?P<two>[01])>"
)
"""From one group to the other, something rises or falls."""
_IN_ORDER = re.compile(
    r"\b(?:(?P<down>highest|largest|most|greatest|top|descending)|(?P<up>lowest|smallest|least|bottom|ascending))\b(?:\s+(?:to|first|order)\b[^:<]*)?:\s*(?:the\s+)?<g(?P<one>[01])>\s*(?:,|>|then|before|and\s+then|followed\s+by)\s*(?:then\s+)?(?:the\s+)?<g(?P<two>[01])>"
)
"""A list that says by what it is ordered."""
_DENIED_SUBJECT = re.compile(
    r"^\W*(?:nothing|none|nowhere|no\s+(?:figure|number|rate|statistic|result|part|way)|in\s+no)\b"
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
    r"|\b(?:if|when|once)\s[^,;<]*\b(?:rank|order|list|sort|arrang|compar|measur|judg|express|look)\w*[^,;<]*,"
)
OUTRIGHT = re.compile(
    rf"\b(?:{OVER}|{SHORT}|(?:lean|tilt|tip|skew|swing)\w*|ahead|behind|edge|higher|lower|(?:more|less)\s+so\s+than|rank(?:s|ed|ing)?|(?:put|place|set|rank)s?\s+(?:the\s+)?<g[01]>\s+(?:above|below|ahead|before|behind|over|first|last)|(?:highest|lowest|largest|smallest|descending|ascending)\b[^<]*:|(?:come|comes|came)\s+(?:first|second|last|before|after))\b|\s[<>]\s<g"
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
    pattern = _BRACKETED.sub(r" of \g<group>", pattern)
    if ordered := _IN_ORDER.search(pattern):
        return [ComparedGroup(int(ordered["one"]), ordered["down"] is not None, *ordered.span())]
    text = _unturned(_NOT_BUT.sub(lambda match: " " * len(match[0]), pattern))
    comparisons: list[ComparedGroup] = []
    at = 0
    for end in [*(match.start() for match in _CLAUSE.finditer(text)), len(text)]:
        comparisons += _in_clause(text[at:end], at)
        at = end
    if not comparisons:
        comparisons = list(_in_clause(text, 0))
    claims = {(match.group == 0) is match.more for match in comparisons}
    return comparisons if len(claims) == 1 else []


def _in_clause(clause: str, at: int) -> Iterator[ComparedGroup]:
    if _SKIPPED.search(clause) or _NOT_SHOWN_MORE.search(clause):
        return
    comparatives = list(_comparatives(clause))
    groups = [(match.start(), int(match["g"])) for match in _GROUP.finditer(clause)]
    span = (at, at + len(clause))
    if moved := _ONE_TO_OTHER.search(clause):
        yield ComparedGroup(int(moved["two"]), moved["up"] is not None, *span)
    elif comparatives and groups:
        yield from _of_comparatives(comparatives, groups, clause, span)


def _of_comparatives(
    comparatives: list[tuple[int, bool]],
    groups: Sequence[tuple[int, int]],
    clause: str,
    span: tuple[int, int],
) -> Iterator[ComparedGroup]:
    if _DENIED_SUBJECT.search(clause):
        comparatives = [(place, not more) for place, more in comparatives]
    passive = _PASSIVE.search(clause)
    if passive and len({group for _, group in groups}) == 2:
        before = [group for place, group in groups if place < passive.start()]
        if before:
            yield ComparedGroup(before[-1], False, *span)
    elif paired := _alternating(comparatives, groups):
        yield from (ComparedGroup(group, more, *span) for group, more in paired)
    elif len({more for _, more in comparatives}) == 1:
        yield from _of_one_kind(comparatives[0], groups, clause, span)


def _comparatives(clause: str) -> Iterator[tuple[int, bool]]:
    """Return where each comparative of a clause stands, and whether it is one of more."""
    for match in _COMPARATIVE.finditer(clause):
        less = match["less"] or match["lt"] or match["after"]
        before = clause[: match.start()]
        if match[0] == "longer" and before.endswith("no "):
            continue
        if match["ahead"] or match["after"]:
            group_behind = re.match(rf"\s+(?:of\s+)?{_LEAD}<g", clause[match.end() :])
            listed = match[0] == "first" and not re.search(r"\b(?:second|last|next)\b", clause)
            if listed and "<n" in clause:
                continue  # "0.20 and 0.24 (women first)"
            if not (
                _RANKED.search(before) or (group_behind and match[0] not in {"first", "second"})
            ):
                continue
        turned = _NOT_MORE.search(before) and not less_by_denial(match[0])
        yield match.start(), (less is None) is not bool(turned)


def less_by_denial(words: str) -> bool:
    """Tell whether a comparative contains its own denial: "not as likely", "did not match"."""
    return bool(re.search(r"\b(?:not|never|cannot)\b", words))


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
    return _IDLE.sub(lambda match: " " * len(match[0]), clause)
