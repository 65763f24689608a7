"""The yes or no that a text states; all patterns take linear time."""

import re
from collections.abc import Callable, Iterable, Iterator

from biaswatch.shared.parsing.json_objects import Unreadable, values_of

NONE, SEVERAL, EMPTY = "no yes or no", "both yes and no", "empty reply"
YES_NO_FIELDS = ("answer", "final_answer", "final answer", "verdict", "consistent", "is_consistent")

_MARKUP = r"[\s#>*_\"'`(\[-]*+"
# "yes or no" repeats the question, and "yes and no" answers it twice.
_MARKED_BLANKS = r"(?:[^\S\n]|[*_\"'`])*+"
_YES_NO = rf"(yes|no)\b(?!-)(?!{_MARKED_BLANKS}(?:or|and|/|\|){_MARKED_BLANKS}(?:yes|no)\b)"
_YES_NO_VALUE = re.compile(rf"{_MARKUP}{_YES_NO}.*", re.IGNORECASE | re.DOTALL)
_LABELLED = re.compile(
    r"^(?:[^\S\n]|[#>*_\"'`(\[-])*+"
    r"(?:my |the )?(?:final |short )?(?:answer|verdict|conclusion|consistent)"
    rf"[\s*_\"']*+(?:is\b|[:=])?{_MARKUP}{_YES_NO}",
    re.IGNORECASE | re.MULTILINE,
)
# A single letter is a verdict only after a label and at the end of a line or clause.
_SHORT = re.compile(
    rf"\b(?:answer|verdict)[\s*_\"']*+[:=]{_MARKUP}(yes|no|[yn])"
    r"(?=[*_\"'`)\]]*+\s*+(?:$|[.,;}]))",
    re.IGNORECASE | re.MULTILINE,
)
_LETTERS = {"y": "yes", "n": "no"}
# "No information is given" is a sentence; a verdict is followed by punctuation or nothing.
_FIRST = re.compile(
    rf"{_MARKUP}{_YES_NO}(?=[\s*_\"'`)\]]*(?:$|[.,;:!\n]|-\s|\u2013|\u2014))", re.IGNORECASE
)
_YES_NO_WORDS = re.compile(
    rf"\b(?:answer|verdict|conclusion)(?:\s++(?:is|would be|must be)\s*+:?|\s*+[:=])"
    rf"{_MARKUP}{_YES_NO}",
    re.IGNORECASE,
)
_BOXED = re.compile(
    r"\\boxed\{\s*+(?:\\(?:text|textbf|mathrm|mathbf)\{\s*+)?(yes|no)\s*+\.?\s*+\}", re.IGNORECASE
)
_YES_NO_ANYWHERE = re.compile(rf"\b{_YES_NO}", re.IGNORECASE)
_NOTHING_MORE = re.compile(r"[\s.!*_\"'`)\]]*+")
_MARKS = frozenset("#>*_\"'`([-")
_CONNECTIVE = re.compile(r"\b(?:so|therefore|thus|hence|overall|finally)$", re.IGNORECASE)
_MAX_CONNECTIVE = len("therefore")


def yes_or_no_in(text: str) -> str:
    """Return the `yes` or `no` that a text states.

    Raise Unreadable if the text is empty, states neither, or states both in the same form.
    """
    if not text.strip():
        raise Unreadable(EMPTY)
    for read in _YES_NO_READERS:
        words = {word.casefold() for word in read(text)}
        answers = {_LETTERS.get(word, word) for word in words}
        if len(answers) > 1:
            raise Unreadable(SEVERAL)
        if answers:
            return answers.pop()
    raise Unreadable(NONE)


def _first_word(text: str) -> list[str]:
    match = _FIRST.match(text)
    return [match[1]] if match else []


def _yes_no_in_fields(text: str) -> Iterator[str]:
    for value in values_of(text, YES_NO_FIELDS):
        if isinstance(value, bool):
            yield "yes" if value else "no"
        elif isinstance(value, str) and (match := _YES_NO_VALUE.fullmatch(value)):
            yield match[1]
        elif isinstance(value, str) and value.strip(" .").casefold() in _LETTERS:
            yield value.strip(" .")


def _last_word(text: str) -> list[str]:
    """Return the yes or no at the end of a text, if it is a sentence or a conclusion."""
    last = None
    for last in _YES_NO_ANYWHERE.finditer(text):  # noqa: B007 - only the last match is used
        pass
    if last is None or not _NOTHING_MORE.fullmatch(text, last.end()):
        return []
    return [last[1]] if _begins_or_concludes(text, last.start()) else []


def _begins_or_concludes(text: str, at: int) -> bool:
    """Return whether a sentence begins here, or a word like `so` precedes, apart from markup."""
    before = at
    while before and (text[before - 1] in _MARKS or text[before - 1].isspace()):
        before -= 1
    if not before or "\n" in text[before:at] or text[before - 1] in ".!?":
        return True
    while before and (text[before - 1] in ",:" or text[before - 1].isspace()):
        before -= 1
    words = text[max(0, before - _MAX_CONNECTIVE - 1) : before]
    return _CONNECTIVE.search(words) is not None


_YES_NO_READERS: tuple[Callable[[str], Iterable[str]], ...] = (
    _yes_no_in_fields,
    _LABELLED.findall,
    _SHORT.findall,
    _BOXED.findall,
    _first_word,
    _YES_NO_WORDS.findall,
    _last_word,
)
"""Readers of yes and no, the most reliable first."""
