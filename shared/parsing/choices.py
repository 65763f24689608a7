"""The option chosen in a text, and its reasoning.

Options are letters, so numbers in a text are never taken for a choice.
"""

import re
from collections.abc import Collection, Mapping
from string import ascii_uppercase

from biaswatch.shared.lookup import first
from biaswatch.shared.parsing.json_objects import Unreadable, objects_in, texts_in, values_of
from biaswatch.shared.parsing.options import MaskedOptions, without_listed
from biaswatch.shared.parsing.texts import with_plain_quotes

NO_CHOICE, SEVERAL_CHOICES = "no choice", "several choices"
FIELDS = ("answer", "final_answer", "final answer", "choice", "chosen", "option")

# All patterns take linear time: repeats are possessive (`*+`) and bounded by lines.
_LINE_START = r"^(?:[^\S\n]|[#>*_-])*+"
_SHUT = r"[)\]*_\"'`]*"
_ANY_SHUT = r"[)\]*_\"'`]*+"
_SHUT_BUT_ROUND = r"[\]*_\"'`]*+"
_OPEN = r"[(\[*_\"'`]*+"
_BECAUSE = r"\s++(?:because|since|as|due\sto|given)\b"
_END = rf"{_SHUT}(?=\s*(?:$|[.,;:!)]|-\s|\u2013|\u2014)|{_BECAUSE})"
_VALUE = re.compile(
    rf"\s*+(?:option\s++|answer\s*+:\s*+)?{_OPEN}([A-Z]){_SHUT}\s*(?:$|[.):,\n-].*)",
    re.IGNORECASE | re.DOTALL,
)
_ONE_LINE = r"\s*+[^\n]*+\s*+"
_ALONE = re.compile(
    rf"\s*+(?:[Oo]ption\s++)?{_OPEN}([A-Z])"
    rf"(?:(?:{_SHUT_BUT_ROUND}\))++{_ONE_LINE}|{_SHUT_BUT_ROUND}\s*+(?:[.:]{_ONE_LINE}"
    rf"|[-\u2013\u2014]\s{_ONE_LINE}|,?{_BECAUSE}{_ONE_LINE})?)"
)
_SMALL_ALONE = re.compile(
    rf"\s*+(?:option\s++)?{_OPEN}([a-z]){_SHUT_BUT_ROUND}\.?{_SHUT_BUT_ROUND}\s*+"
    rf"|\s*+{_OPEN}[a-z]{_SHUT_BUT_ROUND}\)++{_ONE_LINE}"
)
_ANOTHER = re.compile(r"\b[Oo]ption\s++([A-Z])\b|(?<![\w(])([A-Z])\)\s")
_STOPPED = rf"{_ANY_SHUT}(?:[.:]{_ANY_SHUT})?"
_LAST_LINE = re.compile(rf"(?:[#>*_-]|\s)*+(?:[Oo]ption\s++)?{_OPEN}([A-Z]){_STOPPED}")
# A line with a letter alone, or a letter in brackets or with a stop and the text of an option.
_MARK_LINE = re.compile(
    rf"{_LINE_START}(?:option\s++)?{_OPEN}([A-Z])(?:{_STOPPED}[^\S\n]*+$"
    rf"|{_SHUT_BUT_ROUND}\)++{_SHUT_BUT_ROUND}\s|{_SHUT_BUT_ROUND}[.:]\s)",
    re.MULTILINE,
)
_TAGGED = re.compile(
    rf"<(?:final_?)?(?:answer|choice|option)>\s*+(?:option\s++)?{_OPEN}([A-Z]){_SHUT}"
    r"\s*(?:</|[.):,\n-])",
    re.IGNORECASE,
)
_BOXED = re.compile(
    r"\\boxed\{\s*+(?:\\(?:text|textbf|mathrm|mathbf)\{)?\(?([A-Z])(?=[\s)}.:,])", re.IGNORECASE
)
# A field whose value has no quotes, so that it is not JSON: `"Answer": y.`
_BARE = re.compile(
    rf"[\"'](?:{'|'.join(FIELDS)})[\"'][*_\s]*+[:=][*_\s]*+{_OPEN}([A-Z]){_SHUT}(?=\s*(?:$|[.,;}}]))",
    re.IGNORECASE | re.MULTILINE,
)
_KIND = r"(?:final |correct |best |right |chosen |selected |preferred |most likely )"
_NAMED = r"(?:answer|choice|option|selection|response)"
_LINE = re.compile(
    rf"{_LINE_START}(?:(?:my |the )?{_KIND}?{_NAMED})"
    rf"[*_\s\"']*+(?:is\b|[:=\uff1a]|[-\u2013\u2014]\s)[*_\s]*+(?:option\s++)?{_OPEN}([A-Z]){_END}",
    re.IGNORECASE | re.MULTILINE,
)
_CHOOSING = (
    r"(?:choos(?:e|ing)|chose|pick(?:ing)?|select(?:ing)?|go(?:ing)?\swith|opt\sfor|vote\sfor"
    r"|(?:I'd|I\swould|I'll|I\swill)\s(?:say|answer))"
)
_WORDS = re.compile(
    rf"\b(?:answer(?:\sto\s[^.:\n]{{1,40}}?(?=\sis))?|choice|(?:{_KIND})(?:option|response|selection))\s++(?:is|would\sbe|must\sbe)\s*+"
    rf"(?::\s*+)?(?:option\s++)?{_OPEN}([A-Z]){_END}"
    rf"|\b(?:[Aa]nswer|ANSWER)\s*+:\s*+(?:option\s++)?{_OPEN}([A-Z]){_END}"
    rf"|(?<!not\s)(?<!n't\s)\b{_CHOOSING}\s++(?:option\s++)?{_OPEN}([A-Z]){_END}"
    rf"|\b(?:It's|It\sis|it's|it\sis|it\smust\sbe)\s++(?:option\s++)?{_OPEN}([A-Z]){_END}"
    rf"|\b(?:[Tt]herefore|[Tt]hus|[Hh]ence|[Ss]o),?\s++(?:option\s++)?{_OPEN}([A-Z]){_SHUT}(?=\s*(?:$|[.!]))"
    rf"|\b(?:[Oo]ption|[Cc]hoice|[Aa]nswer)\s++{_OPEN}([A-Z]){_SHUT}\s++is\s++(?:the\s++)?(?:correct|right|best)\b"
    rf"|(?:\A|[.!?\n])[^\S\n]*+{_OPEN}([A-Z]){_SHUT}\s++is\s++(?:the\s++)?(?:correct|right|best|my)\b",
    re.MULTILINE,
)
_OPTION_FIRST = re.compile(
    rf"\s*+{_OPEN}(?:[Oo]ption|OPTION|[Cc]hoice)\s++{_OPEN}([A-Z]){_END}", re.MULTILINE
)
_OPTION = re.compile(rf"\b(?:option|choice)\s++{_OPEN}([A-Z])\b", re.IGNORECASE)
_DOUBTED = re.compile(r"(?:n't|\bnot)\s(?:think|believe|say)\s[^.!?\n]{0,60}$")
_EITHER = re.compile(
    rf"\b(?:[Aa]nswer|[Cc]hoice|[Oo]ption)(?:\s++is\b|\s*+[:=])[*_\s]*+{_OPEN}[A-Z]{_SHUT}\s*+(?:or|and|/|&|,)\s++"
    rf"(?:[Aa]nswer\s*+[:=]\s*+)?(?:[Oo]ption\s++)?{_OPEN}[A-Z]{_SHUT}(?=\s*(?:$|[.,;:!]))",
    re.MULTILINE,
)


_LAST_WORD = re.compile(r"(?<!\S)\S++\s*+\Z")


def choice_in(
    text: str,
    options: Collection[str] | Mapping[str, str] = ascii_uppercase,
    *,
    cut_off: bool = False,
) -> str:
    """Return the letter of the one option that a text chooses.

    `options` are letters, or the text of each option by its letter. Where texts are known, an
    option is chosen by its text too, initials in it are ignored, and a letter before the text of
    another option contradicts it. The last word of a text that was `cut_off` is not read, as it
    may be incomplete.

    The most reliable form decides: a field of a JSON object or a tag, then a text that is only a
    letter, then lines that begin with "Answer:" or are a letter, then words like "the answer is
    B", then the text of an option. Raise Unreadable if no option is chosen, or several in the same
    form.
    """
    plain = with_plain_quotes(_LAST_WORD.sub("", text) if cut_off else text)
    known = MaskedOptions(options if isinstance(options, Mapping) else {})
    masked = known.masked(plain)
    if known.has_names:
        masked = without_listed(masked, options)
    for read in (_in_fields, _alone, _in_lines, _in_mark_lines, _in_words, _first_option):
        letters = {letter.upper() for letter in read(masked)}
        if chosen := letters & set(options):
            letter = _only(chosen)
            if known.contradicts(masked, letter):
                raise Unreadable(SEVERAL_CHOICES)
            return letter
        if letters:
            break  # an unknown option outranks less reliable forms
    return _only(known.chosen_in(masked))


def _only(letters: set[str]) -> str:
    if len(letters) > 1:
        raise Unreadable(SEVERAL_CHOICES)
    if not letters:
        raise Unreadable(NO_CHOICE)
    return letters.pop()


def _in_fields(text: str) -> list[str]:
    values = [value for value in values_of(text, FIELDS) if isinstance(value, str)]
    letters = [match[1] for value in values if (match := _VALUE.fullmatch(value))]
    return letters or _BARE.findall(text) or _TAGGED.findall(text) or _BOXED.findall(text)


def _alone(text: str) -> list[str]:
    if match := _ALONE.fullmatch(text):
        further = _ANOTHER.finditer(text, match.end(1) + 1)
        return [match[1], *("".join(filter(None, other.groups())) for other in further)]
    if match := _SMALL_ALONE.fullmatch(text):
        return [match[1] or first(filter(str.isalpha, match[0]), "The match has no letter.")]
    return []


def _in_lines(text: str) -> list[str]:
    if _EITHER.search(text):
        raise Unreadable(SEVERAL_CHOICES)
    return _LINE.findall(text)


def _in_mark_lines(text: str) -> list[str]:
    """Return the letters that begin lines, if the first line has one; else that of the last."""
    lines = list(_MARK_LINE.finditer(text))
    if lines and not text[: lines[0].start()].strip():
        return [line[1] for line in lines]
    last = _LAST_LINE.fullmatch(text.rstrip().rpartition("\n")[2])
    return [last[1]] if last else []


def _in_words(text: str) -> list[str]:
    return [
        "".join(filter(None, choice.groups()))
        for choice in _WORDS.finditer(text)
        if not _DOUBTED.search(text, max(0, choice.start() - 80), choice.start())
    ]


def _first_option(text: str) -> list[str]:
    """Return the options named in a text that begins with one."""
    return _OPTION.findall(text) if _OPTION_FIRST.match(text) else []


NO_REASONING = "no reasoning"
REASONING_FIELDS = ("reasoning", "explanation", "rationale", "thoughts")

_ANSWER_LINE = re.compile(
    rf"{_LINE_START}(?:my |the )?(?:final )?(?:answer|choice)[*_\s\"']*+(?:is\b|[:=])[^\n]*+$",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL = re.compile(r"^[\s#>*_-]*(?:reasoning|explanation|rationale)[*_]*\s*[:=]\s*", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z\"'(\[])")
MIN_REASONING_WORDS = 3


def reasoning_in(text: str, separate: str | None = None) -> str:
    """Return the reasoning of a text: a field of a JSON object, or all but the answer.

    By default return `separate`, the reasoning apart from the text. Raise Unreadable if there is
    neither.
    """
    reasoning = " ".join(_texts_in_fields(text)).strip()
    if not reasoning and not text.lstrip().startswith("{"):
        reasoning = _LABEL.sub("", _ANSWER_LINE.sub("", text)).strip()
    if len(reasoning.split()) < MIN_REASONING_WORDS:
        reasoning = (separate or "").strip()
    if len(reasoning.split()) < MIN_REASONING_WORDS:
        raise Unreadable(NO_REASONING)
    return reasoning


def _texts_in_fields(text: str) -> list[str]:
    """Return the texts in fields of reasoning, else in all fields except those of an answer."""
    values = list(values_of(text, REASONING_FIELDS))
    texts = [part for value in values for part in texts_in(value)]
    if texts:
        return texts
    for fields in objects_in(text):
        for name, value in fields.items():
            if name.casefold() not in FIELDS:
                texts += texts_in(value)
    return texts


def sentences_in(text: str, most: int) -> str:
    """Return the first sentences of a text, on one line."""
    return " ".join(_SENTENCE.split(" ".join(text.split()))[:most])
