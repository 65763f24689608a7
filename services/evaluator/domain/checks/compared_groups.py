"""Which group a comparative belongs to: by reference words, by clause, by what stands beside it.

It is asked where no fixed form of a comparison is found. Groups that stand behind "than",
"compared with" and the like are what is compared with; of the others, a comparative belongs to the
only one of its clause, or, where two comparatives and two groups alternate, to its neighbour.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MORE = (
    r"more\s+(?:likely|often|frequent(?:ly)?|common(?:ly)?|apt|prone|probabl[ey]|numerous)|likelier|higher|highest"
    r"|greater|greatest|larger|largest|bigger|biggest|over-?represented|comparatively\s+often|better\s+odds"
    r"|relatively\s+often|more\s+in\s+proportion|(?:is|are)\s+up|and\s+up|ahead|above|tops?|leads?(?!\s+to)|first|>|more"
)
LESS = (
    r"less\s+(?:likely|often|frequent(?:ly)?|common(?:ly)?|apt|prone|probabl[ey]|numerous)|lower|lowest|smaller"
    r"|smallest|under-?represented|fewer(?:\s+in\s+proportion)?|not\s+as\s+many|proportionally\s+fewer|(?:is|are)\s+down|below"
    r"|behind|last|dwarfed|f[ae]lls?\s+short|less"
)
_COMPARATIVE = re.compile(rf"(?<![\w<])(?:(?P<less>{LESS})|(?P<more>{MORE}))(?![\w>])")
_GROUP = re.compile(r"<g(?P<g>[01])>")
_LEAD = r"(?:it\s+(?:is|was)\s+|they\s+(?:are|were)\s+|those\s+of\s+|that\s+of\s+|that\s+for\s+|that\s+recorded\s+for\s+|the\s+rate\s+(?:among|of|for)\s+|rate\s+recorded\s+for\s+|for\s+|among\s+|of\s+|by\s+|one\s+of\s+|the\s+)*"
_REFERENCE = re.compile(
    r"(?:\bthan|\bcompared\s+(?:with|to)|\brelative\s+to|\bversus|\bvs\.?|\bas\s+against|\bcontrast\s+(?:with|to)"
    r"|\bunlike|\brather\s+than|\bnext\s+to|\bbeside|\bwhereas\s+that\s+of|\bahead\s+of|\babove|\bbelow|\bbehind"
    r"|\bas|\btops?|\bleads?|\bshort\s+of|\bfollowed\s+by|\s>)"
    rf"\s+{_LEAD}$"
)
_PASSIVE = re.compile(
    r"\b(?:exceeded|dwarfed|outstripped|topped|surpassed|outnumbered)\b[^;<]*\bby\b"
)
_CLAUSE = re.compile(r"[;:?.]\s|\s\u2013\s|,?\s+\b(?:but|whereas|while|whilst|although)\b")
_PRONOUN = re.compile(r"\b(?:their|they|them)\b")
_SKIPPED = re.compile(
    r"<m:|\binterval|\bp-?\s*value|\bbound|\blimit\b|\bconfidence|\bevidence|\bsample\s+size|(?:number\s+of|enough|few|many)\s+cases\b|\bif\b(?!\s+anything)|\bwhether\b"
)


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
    text = _with_names(pattern)
    found: list[ComparedGroup] = []
    at = 0
    for end in [*(each.start() for each in _CLAUSE.finditer(text)), len(text)]:
        found += _in_clause(text[at:end], at)
        at = end
    if not found:
        found = list(_in_clause(text, 0))
    claims = {(each.group == 0) is each.more for each in found}
    return found if len(claims) == 1 else []


def _with_names(pattern: str) -> str:
    """Put the first and second group for "former" and "latter", the last for "their"."""
    groups = [each["g"] for each in _GROUP.finditer(pattern)]
    if len(groups) > 1:
        pattern = pattern.replace("the former", f"<g{groups[0]}>")
        pattern = pattern.replace("the latter", f"<g{groups[1]}>")
    return pattern


def _in_clause(clause: str, at: int) -> Iterator[ComparedGroup]:
    if _SKIPPED.search(clause):
        return
    comparatives = [
        (each.start(), each["less"] is None) for each in _COMPARATIVE.finditer(_unturned(clause))
    ]
    groups = [(each.start(), int(each["g"])) for each in _GROUP.finditer(clause)]
    own = [g for g in groups if not _REFERENCE.search(clause[: g[0]])]
    if not comparatives or not groups:
        return
    span = (at, at + len(clause))
    if _PASSIVE.search(clause) and len(groups) == 2:
        yield ComparedGroup(groups[0][1], False, *span)
        return
    if paired := _alternating(comparatives, groups):
        yield from (ComparedGroup(group, more, *span) for group, more in paired)
        return
    names = {group for _, group in own}
    if len({more for _, more in comparatives}) == 1 and len(names) == 1:
        yield ComparedGroup(names.pop(), comparatives[0][1], *span)
    elif not own and len({group for _, group in groups}) == 1:
        reference = groups[0][1]
        yield ComparedGroup(1 - reference, comparatives[0][1], *span)


def _alternating(
    comparatives: Sequence[tuple[int, bool]], groups: Sequence[tuple[int, int]]
) -> list[tuple[int, bool]]:
    """Return each group with its comparative, where two of each take turns and differ."""
    if not len(comparatives) == 2 == len(groups) or groups[0][1] == groups[1][1]:
        return []
    places = [(at, "c") for at, _ in comparatives] + [(at, "g") for at, _ in groups]
    order = "".join(kind for _, kind in sorted(places))
    if order not in {"cgcg", "gcgc"} or comparatives[0][1] == comparatives[1][1]:
        return []
    return [(group, more) for (_, group), (_, more) in zip(groups, comparatives, strict=True)]


def _unturned(clause: str) -> str:
    """Blank out what is denied only to be corrected: "not less but more"."""
    return re.sub(
        r"\bnot\s+(?:less|more|lower|higher)\s+but\b", lambda each: " " * len(each[0]), clause
    )
