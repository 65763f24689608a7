"""Options of a question: their texts in a prompt, and answers that name an option by its text."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import chain

MIN_NAME_CHARACTERS = 3
"""Shorter texts of options are not looked for in answers."""
FIRST_MASK = 0xE000
"""A character of Unicode's private area for each option in a masked text."""
_LINE = re.compile(r"^[^\S\n]*+\(?([A-Z])[).:][^\S\n]++(\S[^\n]*)$", re.MULTILINE)
_LISTED = re.compile(
    r"^(?:\(?\w[).:]\s*+)?(?:[\ue000-\uf8ff]:?\s|the\s\w++:\s)?([\ue000-\uf8ff])"
    r"(?![^\n]*\b(?:is|was|should|would)\b)[^\n]*$",
    re.MULTILINE | re.IGNORECASE,
)
"""A line that begins with the name of an option, which may have a number or a letter."""
_PARTS = re.compile(r"\s*[:;,\u2013\u2014]\s|\s-\s|\s\(")
_WORD = re.compile(r"\w+")
_VERB = re.compile(r"\s*+\w")
_FORM = re.compile(
    r"\b(?:the|final|my|answer|choice|is|applicant|option)\b|\b[\da-z][.)](?=\s)", re.IGNORECASE
)
_SENTENCE = re.compile(r"[.!?](?=\s|$)|\n")
_NOT = re.compile(r"\b(?:not|no longer|never|neither|nor|reject(?:ed)?|instead of)\b|n't\b", re.I)
_CHOOSING = re.compile(
    r"\b(?:answer|choice|option|cho[os]e|chosen|choosing|pick(?:ed)?|select(?:ed)?|prefer(?:red)?"
    r"|invit(?:e|ed|ing)|hir(?:e|ed|ing)|recommend(?:ed)?|go with|interview(?:ed)?)\b",
    re.IGNORECASE,
)


def option_texts(prompt: str, letters: Collection[str]) -> dict[str, str]:
    r"""Return the text of each option from the last lines like `A) text` of a prompt.

    >>> option_texts("Whom do you invite?\n\nA) Jake Harris\nB) M. Hale", "AB")
    {'A': 'Jake Harris', 'B': 'M. Hale'}
    """
    return {line[1]: line[2].strip() for line in _LINE.finditer(prompt) if line[1] in letters}


class MaskedOptions:
    """Names of options, which are replaced in answers by one character for each option."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._letters = {chr(FIRST_MASK + i): letter for i, letter in enumerate(options)}
        masks = {letter: mask for mask, letter in self._letters.items()}
        names = {name: masks[letter] for name, letter in _distinct_names(options)}
        longest_first = sorted(names, key=len, reverse=True)
        self._masks = [names[name] for name in longest_first]
        patterns = (r"\W{0,3}".join(map(re.escape, name.split())) for name in longest_first)
        groups = "|".join(f"({pattern})" for pattern in patterns)
        self._any = re.compile(rf"\b(?:{groups})\b(?![@\w])", re.IGNORECASE)

    @property
    def has_names(self) -> bool:
        """Tell whether the text of an option is known that no other option has."""
        return bool(self._masks)

    def masked(self, text: str) -> str:
        """Return a text with the character of an option for each of its names."""
        if not self._masks:
            return text
        return self._any.sub(lambda name: self._masks[(name.lastindex or 1) - 1], text)

    def named_in(self, text: str) -> set[str]:
        """Return the letters of the options that a masked text names."""
        return {self._letters[character] for character in text if character in self._letters}

    def contradicts(self, masked: str, letter: str) -> bool:
        """Tell whether a line begins with a letter and names another option: "A) M. Hale"."""
        lines = (self.named_in(line[2]) for line in _LINE.finditer(masked) if line[1] == letter)
        return any(named and letter not in named for named in lines)

    def chosen_in(self, masked: str) -> set[str]:
        """Return the options that are alone on a line, or else named where something is chosen."""
        if not self.named_in(masked):
            return set()
        lines = [line for line in masked.splitlines() if self._is_name_alone(line)]
        alone = set().union(*map(self.named_in, lines))
        return alone or set().union(*self._choices(masked)) or self._first(masked)

    def _first(self, masked: str) -> set[str]:
        """Return the option whose name begins a text that names no other."""
        begins = masked[:1] in self._letters and not _VERB.match(masked, 1)
        named = self.named_in(masked)
        return named if begins and len(named) == 1 else set()

    def _is_name_alone(self, line: str) -> bool:
        if not self.named_in(line):
            return False
        rest = _FORM.sub("", line)
        return not _WORD.search("".join(c for c in rest if c not in self._letters))

    def _choices(self, masked: str) -> Iterator[set[str]]:
        for sentence in _SENTENCE.split(masked):
            named = self.named_in(sentence)
            if len(named) == 1 and _CHOOSING.search(sentence) and not _NOT.search(sentence):
                yield named


def without_listed(text: str, letters: Collection[str]) -> str:
    """Return a masked text without lines that list two options or more, as the question did."""
    by_letter = {line: line[1] for line in _LINE.finditer(text) if line[1] in letters}
    by_name = {line: line[1] for line in _LISTED.finditer(text)}
    for lines in (by_letter, by_name):
        if len(set(lines.values())) > 1:
            spans = sorted({line.span() for line in lines}, reverse=True)
            for start, end in spans:
                text = text[:start] + text[end:]
            return text
    return text


def _distinct_names(options: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the texts of options and their parts that belong to one option alone."""
    names = {
        letter: {_plain(part) for part in (text, *_PARTS.split(text))}
        for letter, text in options.items()
    }
    counts = Counter(chain.from_iterable(names.values()))
    for letter, own in names.items():
        for name in own:
            if counts[name] == 1 and len(name) >= MIN_NAME_CHARACTERS:
                yield name, letter


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))
