"""The yes or no of a judge: in JSON, after a label, at the beginning, or as the last word."""

import re
from collections.abc import Iterator

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

    Raises
    ------
    Unread
        The text is empty, says neither, or says both in the same way.
    """
    if not text.strip():
        raise Unreadable(EMPTY)
    for way in (_in_fields, _labelled, _first, _in_words, _last):
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


def _labelled(text: str) -> Iterator[str]:
    yield from _LABELLED.findall(text)


def _first(text: str) -> Iterator[str]:
    if found := _FIRST.match(text):
        yield found[1]


def _in_words(text: str) -> Iterator[str]:
    yield from _WORDS.findall(text)


def _last(text: str) -> Iterator[str]:
    if found := _LAST.search(text):
        yield found[1]
