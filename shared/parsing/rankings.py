"""A ranking of lettered options stated in a text."""

import re
from collections.abc import Collection, Iterator

from biaswatch.shared.parsing.json_objects import Unreadable, texts_in, values_of
from biaswatch.shared.parsing.texts import with_plain_quotes

NO_RANKING, SEVERAL_RANKINGS = "no ranking", "several rankings"
INCOMPLETE_RANKING = "the ranking does not name every option once"
FIELDS = ("ranking", "order", "ranked")
MAX_LETTERS = 26

_LINE = re.compile(
    r"^(?:[^\S\n]|[#>*_-])*+(?:(?:my|the|final)\s++){0,2}ranking\b[*_\s\"']*+(?:is\b|[:=])(?P<rest>[^\n]*+)",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBERED = re.compile(
    r"^[^\S\n]*+[*_]{0,2}(\d{1,2})[.):][*_\s]*+(?:option\s++)?[(\[*_\"']*+([A-Z])(?=[\s).:,*_\]\"'\u2013-]|$)",
    re.MULTILINE,
)
_LETTER = re.compile(r"(?<![A-Za-z])([A-Z])(?![A-Za-z'])")
_NAMES = re.compile(r"\([^)\n]*+\)")


def ranking_in(text: str, options: Collection[str], *, cut_off: bool = False) -> tuple[str, ...]:
    """Return the letters of all options in the order that a text states, the best first.

    The most reliable form decides: a field `ranking` of a JSON object, then a line that begins
    with "Ranking:", then lines numbered from 1 that begin with a letter.

    Raises
    ------
    Unreadable
        No order is stated, several are, or one that lacks or repeats an option.

    Examples
    --------
    >>> ranking_in("Ranking: B > C > A", "ABC")
    ('B', 'C', 'A')
    """
    plain = with_plain_quotes(text)
    if cut_off:  # its last line may be incomplete
        plain = plain.rpartition("\n")[0]
    for form in (_from_json, _from_lines, _from_numbers):
        rankings = {letters for letters in form(plain) if letters}
        if len(rankings) > 1:
            raise Unreadable(SEVERAL_RANKINGS)
        if rankings:
            [letters] = rankings
            if sorted(letters) != sorted(options):
                raise Unreadable(INCOMPLETE_RANKING)
            return letters
    raise Unreadable(NO_RANKING)


def _from_json(text: str) -> Iterator[tuple[str, ...]]:
    for value in values_of(text, FIELDS):
        yield _letters(" ".join(texts_in(value)))


def _from_lines(text: str) -> Iterator[tuple[str, ...]]:
    for match in _LINE.finditer(text):
        yield _letters(match["rest"])


def _from_numbers(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the letters of each list whose lines are numbered from 1."""
    letters: list[str] = []
    for number, letter in _NUMBERED.findall(text):
        if int(number) == 1:
            yield tuple(letters)
            letters = []
        if int(number) == len(letters) + 1:
            letters.append(letter)
    yield tuple(letters)


def _letters(text: str) -> tuple[str, ...]:
    return tuple(_LETTER.findall(_NAMES.sub(" ", text))[: MAX_LETTERS + 1])
