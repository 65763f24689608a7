"""The yes or no of a judge: in JSON, after a label, at the beginning, or as the last word."""

import re
from collections.abc import Callable, Iterable, Iterator

from shared.parsing.json_objects import Unreadable, values_of

NONE, SEVERAL, EMPTY = "no yes or no", "both yes and no", "empty reply"
FIELDS = ("answer", "final_answer", "final answer", "verdict", "consistent", "is_consistent")

_MARKUP = r"[\s#>*_\"'`(\[-]*"
_SAID = r"(yes|no)\b(?!-)"
_VALUE = re.compile(rf"{_MARKUP}{_SAID}.*", re.IGNORECASE | re.DOTALL)
_LABELLED = re.compile(
    rf"^{_MARKUP}(?:my |the )?(?:final |short )?(?:answer|verdict|conclusion|consistent)"
    rf"[\s*_\"']*(?:is\b|[:=])?{_MARKUP}{_SAID}",
    re.IGNORECASE | re.MULTILINE,
)
# "No information is given" is a sentence; a verdict is followed by a stop, a comma or nothing.
_FIRST = re.compile(
    rf"{_MARKUP}{_SAID}(?=[\s*_\"'`)\]]*(?:$|[.,;:!\n]|-\s|\u2013|\u2014))", re.IGNORECASE
)
_WORDS = re.compile(
    rf"\b(?:answer|verdict|conclusion)(?:\s+(?:is|would be|must be)\s*:?|\s*[:=]){_MARKUP}{_SAID}",
    re.IGNORECASE,
)
_LAST = re.compile(
    rf"(?:^|[.!?\n]|\b(?:so|therefore|thus|hence|overall|finally)[\s,:]*){_MARKUP}{_SAID}"
    r"[\s.!*_\"'`)\]]*$",
    re.IGNORECASE,
)


def yes_or_no_in(text: str) -> str:
    """Return `yes` or `no`, as the text plainly says.

    Raise Unreadable where the text is empty, says neither, or says both in the same way.
    """
    if not text.strip():
        raise Unreadable(EMPTY)
    ways: tuple[Callable[[str], Iterable[str]], ...] = (
        _in_fields,
        _LABELLED.findall,
        lambda text: [found[1]] if (found := _FIRST.match(text)) else [],
        _WORDS.findall,
        lambda text: [found[1]] if (found := _LAST.search(text)) else [],
    )
    for way in ways:
        said = {each.casefold() for each in way(text)}
        if len(said) > 1:
            raise Unreadable(SEVERAL)
        if said:
            return said.pop()
    raise Unreadable(NONE)


def _in_fields(text: str) -> Iterator[str]:
    for value in values_of(text, FIELDS):
        if isinstance(value, bool):
            yield "yes" if value else "no"
        elif isinstance(value, str) and (found := _VALUE.fullmatch(value)):
            yield found[1]
