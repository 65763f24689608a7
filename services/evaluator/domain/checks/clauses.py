"""A sentence as clauses of tokens: groups, measures, numbers, nouns of quantity, and links."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from biaswatch.services.evaluator.domain.checks.phrases import word_set
from biaswatch.services.evaluator.domain.checks.quantity_words import Quantity, quantity_of
from biaswatch.shared.lookup import first

_TOKEN = re.compile(
    r"<g(?P<group>[01])>|<m:(?P<measure>[\w-]+)>|<n(?P<number>\d+)>"
    r"|(?P<word>[^\W\d_][\w'\u2019.-]*[\w'\u2019]|[^\W\d_]|\d[\w.,]*)|(?P<mark>[^\s\w])"
)
_BREAKS = word_set("; while whereas whilst but although though however yet because since")
"""What ends a clause, wherever it stands."""
_DASHES = frozenset("\u2013\u2014")
"""What ends a clause, but not between two numbers or behind a name."""
_AFTER_COMMA = word_set("and so of which who whose that with or against giving making")
"""What begins a clause behind a comma."""
_ABBREVIATED = word_set("vs approx cf e.g i.e p no")
_NUMBERED = re.compile(r"\.\s*<n")
"""Behind "no": an abbreviation, and no answer."""
_GROUP_AHEAD = re.compile(r"(?:(?:for|among|in|the)\s+)*<g[01]>")
_NUMBER_BESIDE = re.compile(
    r"(?:compared\s+(?:with|to)|versus|vs\.?|(?:as\s+)?against|as\s+opposed\s+to|next\s+to|rather\s+than)"
    r"\s+(?:(?:only|just|about|the|a|an|some|around|roughly)\s+)*<n\d+>"
)
"""What sets another number beside the one before."""
LINKS = word_set(
    "* a an the of is was are were be been being at about around approximately roughly nearly"
    " almost some to as by that this its their it for among in with only just exactly equal"
    " equals stood stands stand comes came come works out estimated observed calculated"
    " computed reported put had has have having reached reaches reach amounts amounted"
    " amounting lies lay sits sat turned found measured shown given namely respectively"
    " overall up pooled crude raw point estimate estimates value values figure figures size"
    " i.e here also so corresponding statistic gives gave yields yielded results resulting you get obtain leaves left remains : = ( [ , ~ ≈ '"
)
"""Words that may stand between a noun and its number, and bind them."""

_PART_OF = word_set("of out the all / in a total")


@dataclass(frozen=True)
class Token:
    """One word or mark of a sentence, and what it names."""

    text: str
    clause: int
    depth: int
    group: int | None = None
    measure: str | None = None
    number: int | None = None
    quantity: Quantity | None = None

    @property
    def noun(self) -> str | Quantity | None:
        """The measure or the quantity that it names."""
        return self.measure or self.quantity

    @property
    def links(self) -> bool:
        """Tell whether it may stand between a noun and its number."""
        return self.text in LINKS or (self.text.endswith("ly") and self.quantity is None)


@lru_cache(maxsize=64)
def tokens_of(pattern: str) -> tuple[Token, ...]:
    """Return the tokens of a sentence, each with the number of its clause and its brackets."""
    return tuple(_tokens(pattern))


def _tokens(pattern: str) -> Iterator[Token]:
    clause, depth, last = 0, 0, ""
    for match in _TOKEN.finditer(pattern):
        text = match[0]
        if _begins_clause(text, last, pattern[match.start() :]):
            clause += 1
        depth += text in "(["
        group, measure, number = match["group"], match["measure"], match["number"]
        plain = not (group or measure or number)
        yield Token(
            text,
            clause,
            depth,
            group=int(group) if group else None,
            measure=measure,
            number=int(number) if number else None,
            quantity=quantity_of(text) if plain else None,
        )
        depth -= text in ")]"
        last = text


def _begins_clause(text: str, last: str, rest: str) -> bool:
    if text in _DASHES:
        return not last.startswith("<")
    abbreviated = last in _ABBREVIATED and (last != "no" or _NUMBERED.match(rest))
    if text in _BREAKS or (text == "." and not abbreviated):
        return True
    return bool(last == "," and (text in _AFTER_COMMA or _GROUP_AHEAD.match(rest))) or bool(
        _NUMBER_BESIDE.match(rest)
    )


def index_of_number(tokens: Sequence[Token], number: int) -> int:
    """Return where a number stands among the tokens."""
    places = (place for place, token in enumerate(tokens) if token.number == number)
    return first(places, f"There is no number {number}.")


def whole_of(tokens: Sequence[Token], at: int) -> int | None:
    """Return where the number stands of which a number is a part: `60 of the 200`."""
    if tokens[at].number is None:
        return None
    following = [token.text for token in tokens[at + 1 : at + 6]]
    while following and following[0] in _PART_OF:
        following.pop(0)
    place = min(at + 6, len(tokens)) - len(following)
    if place == at + 1 or place >= len(tokens) or tokens[place].number is None:
        return None
    return place


def leads_on(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether a noun or a group is followed by a number of its own."""
    for token in tokens[at + 1 : at + 6]:
        if token.number is not None:
            return True
        if token.text == "," or not (token.links or token.text in {"<", ">", "\u2264", "\u2265"}):
            return False
    return False
