"""The yes or no of a judge: in JSON, after a label, at the beginning, or as the last word."""

import re
from collections.abc import Callable, Iterable, Iterator

from biaswatch.shared.parsing.json_objects import Unreadable, values_of

NONE, SEVERAL, EMPTY = "no yes or no", "both yes and no", "empty reply"
FIELDS = ("answer", "final_answer", "final answer", "verdict", "consistent", "is_consistent")

# Every pattern takes time in proportion to the text: a run of like characters is entered at one
# place and never given back (`*+`), and what begins a line ends with it.
_MARKUP = r"[\s#>*_\"'`(\[-]*+"
_SAID = r"(yes|no)\b(?!-)"
_VALUE = re.compile(rf"{_MARKUP}{_SAID}.*", re.IGNORECASE | re.DOTALL)
_LABELLED = re.compile(
    r"^(?:[^\S\n]|[#>*_\"'`(\[-])*+"
    r"(?:my |the )?(?:final |short )?(?:answer|verdict|conclusion|consistent)"
    rf"[\s*_\"']*+(?:is\b|[:=])?{_MARKUP}{_SAID}",
    re.IGNORECASE | re.MULTILINE,
)
# One letter is a verdict only behind a label, and where nothing but an end follows it.
_SHORT = re.compile(
    rf"\b(?:answer|verdict)[\s*_\"']*+[:=]{_MARKUP}(yes|no|[yn])"
    r"(?=[*_\"'`)\]]*+\s*+(?:$|[.,;}]))",
    re.IGNORECASE | re.MULTILINE,
)
_LETTERS = {"y": "yes", "n": "no"}
# "No information is given" is a sentence; a verdict is followed by a stop, a comma or nothing.
_FIRST = re.compile(
    rf"{_MARKUP}{_SAID}(?=[\s*_\"'`)\]]*(?:$|[.,;:!\n]|-\s|\u2013|\u2014))", re.IGNORECASE
)
_WORDS = re.compile(
    rf"\b(?:answer|verdict|conclusion)(?:\s++(?:is|would be|must be)\s*+:?|\s*+[:=])"
    rf"{_MARKUP}{_SAID}",
    re.IGNORECASE,
)
_SAID_ANYWHERE = re.compile(rf"\b{_SAID}", re.IGNORECASE)
_NOTHING_MORE = re.compile(r"[\s.!*_\"'`)\]]*+")
_MARKS = frozenset("#>*_\"'`([-")
_CONNECTIVE = re.compile(r"\b(?:so|therefore|thus|hence|overall|finally)$", re.IGNORECASE)
_LONGEST_CONNECTIVE = len("therefore")


def yes_or_no_in(text: str) -> str:
    """Return `yes` or `no`, as the text plainly says.

    Raise Unreadable where the text is empty, says neither, or says both in the same way.
    """
    if not text.strip():
        raise Unreadable(EMPTY)
    ways: tuple[Callable[[str], Iterable[str]], ...] = (
        _in_fields,
        _LABELLED.findall,
        _SHORT.findall,
        lambda text: [found[1]] if (found := _FIRST.match(text)) else [],
        _WORDS.findall,
        _last_word,
    )
    for way in ways:
        said = {_LETTERS.get(each.casefold(), each.casefold()) for each in way(text)}
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
        elif isinstance(value, str) and value.strip(" .").casefold() in _LETTERS:
            yield value.strip(" .")


def _last_word(text: str) -> list[str]:
    """Return the yes or no with which a text ends, where it is a sentence or follows from one."""
    last = None
    for last in _SAID_ANYWHERE.finditer(text):  # noqa: B007 - the last one is wanted
        pass
    if last is None or not _NOTHING_MORE.fullmatch(text, last.end()):
        return []
    return [last[1]] if _begins_or_concludes(text, last.start()) else []


def _begins_or_concludes(text: str, at: int) -> bool:
    """Return whether a sentence begins here, markup aside, or a word like `so` stands before."""
    before = at
    while before and (text[before - 1] in _MARKS or text[before - 1].isspace()):
        before -= 1
    if not before or "\n" in text[before:at] or text[before - 1] in ".!?":
        return True
    while before and (text[before - 1] in ",:" or text[before - 1].isspace()):
        before -= 1
    words = text[max(0, before - _LONGEST_CONNECTIVE - 1) : before]
    return _CONNECTIVE.search(words) is not None
