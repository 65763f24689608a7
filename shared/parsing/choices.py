"""The option a text chooses by its letter, and the reasoning that leads to it.

Only letters are read, so "COVID-19", 1890, "the choices are 1, 2, 3" and numbered reasoning cannot
be taken for a choice.
"""

import re
from collections.abc import Collection, Iterator
from string import ascii_uppercase

from shared.parsing.json_objects import Unreadable, objects_in, texts_in, values_of

NO_CHOICE, SEVERAL_CHOICES = "no choice", "several choices"
FIELDS = ("answer", "final_answer", "final answer", "choice", "chosen", "option")

# Every pattern takes time in proportion to the text: a run of like characters is entered at one
# place and never given back (`*+`), and what begins a line ends with it.
_LINE_START = r"^(?:[^\S\n]|[#>*_-])*+"
_SHUT = r"[)\]*_\"'`]*"
_SHUT_BUT_ROUND = r"[\]*_\"'`]*+"
_OPEN = r"[(\[*_\"'`]*+"
_END = rf"{_SHUT}(?=\s*(?:$|[.,;:!)]|-\s|\u2013|\u2014))"
_VALUE = re.compile(
    rf"\s*+(?:option\s++|answer\s*+:\s*+)?{_OPEN}([A-Z]){_SHUT}\s*(?:$|[.):,\n-].*)",
    re.IGNORECASE | re.DOTALL,
)
_ONE_LINE = r"\s*+[^\n]*+\s*+"
_ALONE = re.compile(
    rf"\s*+(?:option\s++)?{_OPEN}([A-Z])"
    rf"(?:(?:{_SHUT_BUT_ROUND}\))++{_ONE_LINE}|{_SHUT_BUT_ROUND}\s*+(?:[.:]{_ONE_LINE})?)"
)
# A field whose value lost its quotes, so that it is no JSON: `"Answer": y.`
_BARE = re.compile(
    rf"[\"'](?:{'|'.join(FIELDS)})[\"'][*_\s]*+[:=][*_\s]*+{_OPEN}([A-Z]){_SHUT}(?=\s*(?:$|[.,;}}]))",
    re.IGNORECASE | re.MULTILINE,
)
_LINE = re.compile(
    rf"{_LINE_START}(?:(?:my |the )?(?:final |correct |best )?(?:answer|choice))"
    rf"[*_\s\"']*+(?:is\b|[:=])[*_\s]*+(?:option\s++)?{_OPEN}([A-Z]){_END}",
    re.IGNORECASE | re.MULTILINE,
)
_WORDS = re.compile(
    rf"\b(?:answer|choice)\s++is\s*+(?::\s*+)?(?:option\s++)?{_OPEN}([A-Z]){_END}"
    rf"|\b(?:[Aa]nswer|ANSWER)\s*+:\s*+(?:option\s++)?{_OPEN}([A-Z]){_END}"
    rf"|\b(?:choose|chose|pick|select|go with)\s++(?:option\s++)?{_OPEN}([A-Z]){_END}"
    rf"|\boption\s++{_OPEN}([A-Z]){_SHUT}\s++is\s++(?:the\s++)?(?:correct|right|best)\b"
    r"|\\boxed\{([A-Z])\}",
    re.MULTILINE,
)
_EITHER = re.compile(
    rf"\b(?:[Aa]nswer|[Cc]hoice)(?:\s++is\b|\s*+[:=])[*_\s]*+{_OPEN}[A-Z]{_SHUT}\s*+(?:or|and|/|&|,)\s++"
    rf"(?:[Aa]nswer\s*+[:=]\s*+)?{_OPEN}[A-Z]{_SHUT}(?=\s*(?:$|[.,;:!]))",
    re.MULTILINE,
)


def choice_in(text: str, marks: Collection[str] = ascii_uppercase) -> str:
    """Return the mark of the one option a text chooses.

    What is said in the surest way decides: a field of a JSON object, then a text that is nothing
    but a mark, then lines that begin with "Answer:", then words like "the answer is B". Raise
    Unreadable where no option of these marks is chosen, or several are in the same way.
    """
    for way in (_in_fields, _alone, _in_lines, _in_words):
        said = {mark.upper() for mark in way(text)}
        if len(said & set(marks)) > 1:
            raise Unreadable(SEVERAL_CHOICES)
        if said & set(marks):
            return (said & set(marks)).pop()
        if said:
            raise Unreadable(NO_CHOICE)  # an unknown option; a weaker sign proves nothing
    raise Unreadable(NO_CHOICE)


def _in_fields(text: str) -> list[str]:
    values = [value for value in values_of(text, FIELDS) if isinstance(value, str)]
    whole = [found[1] for value in values if (found := _VALUE.fullmatch(value))]
    return whole or _BARE.findall(text)


def _alone(text: str) -> list[str]:
    return [found[1]] if (found := _ALONE.fullmatch(text)) else []


def _in_lines(text: str) -> list[str]:
    if _EITHER.search(text):
        raise Unreadable(SEVERAL_CHOICES)
    return _LINE.findall(text)


def _in_words(text: str) -> list[str]:
    return ["".join(marks) for marks in _WORDS.findall(text)]


NO_REASONING = "no reasoning"
REASONING_FIELDS = ("reasoning", "explanation", "rationale", "thoughts")

_ANSWER_LINE = re.compile(
    rf"{_LINE_START}(?:my |the )?(?:final )?(?:answer|choice)[*_\s\"']*+(?:is\b|[:=])[^\n]*+$",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL = re.compile(r"^[\s#>*_-]*(?:reasoning|explanation|rationale)[*_]*\s*[:=]\s*", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z\"'(\[])")
LEAST_WORDS = 3
"""Fewer words are a label or a mark, no reasoning."""


def reasoning_in(text: str) -> str:
    """Return the words that lead to the answer: a field of a JSON object, or all but the answer.

    Raise Unreadable where there are none: the answer was given without a reason.
    """
    said = " ".join(_words_in_fields(text)).strip()
    if not said and not text.lstrip().startswith("{"):
        said = _LABEL.sub("", _ANSWER_LINE.sub("", text)).strip()
    if len(said.split()) < LEAST_WORDS:
        raise Unreadable(NO_REASONING)
    return said


def _words_in_fields(text: str) -> Iterator[str]:
    """Return what stands under the names of a reasoning; else under all but those of an answer."""
    named = [word for value in values_of(text, REASONING_FIELDS) for word in texts_in(value)]
    yield from named or (
        word
        for each in objects_in(text)
        for name, value in each.items()
        if name.casefold() not in FIELDS
        for word in texts_in(value)
    )


def sentences_in(text: str, most: int) -> str:
    """Return the first sentences of a text, on one line."""
    return " ".join(_SENTENCE.split(" ".join(text.split()))[:most])
