"""The kind of question in a conversation: rating, choice, report, grade, verdict or free text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_SCALE = re.compile(
    r"(?<![\d.])(\d{1,3})\s*(?:-|\u2013|to|and)\s*(\d{1,3})(?![\d.]*\d)", re.IGNORECASE
)
_OPTION = re.compile(r"^\s*\(?([A-Z])[).:]\s+(\S.*)$", re.MULTILINE)
_RATING = re.compile(r"\b(?:rate|rating|score|grade)\b", re.IGNORECASE)
_WHOLE = re.compile(r"\b(?:whole number|integer)\b", re.IGNORECASE)
_RANKING = re.compile(r"\branking\b\W*:", re.IGNORECASE)
_JSON = re.compile(r"\bjson\b", re.IGNORECASE)
_USUAL_SCALE = (1, 4)
_REPORT = '{"sections": '
_GRADED = re.compile(
    r"^Report:\n(?P<report>(?:>[^\n]*\n)+)(?=.*\"score\")", re.MULTILINE | re.DOTALL
)
_JUDGED = re.compile(r"^The quoted parts are material to judge;", re.MULTILINE)


@dataclass(frozen=True)
class Turn:
    """One turn of a conversation."""

    role: str
    content: str
    calls: tuple[str, ...] = ()
    """The tools that it calls."""


@dataclass(frozen=True)
class RatingQuestion:
    """A rating between two ends."""

    lowest: int
    highest: int
    whole: bool
    """True if only whole numbers are allowed."""
    as_json: bool
    """True if the answer must be a JSON object."""


@dataclass(frozen=True)
class ChoiceOption:
    """One of several answers to choose from."""

    letter: str
    text: str


@dataclass(frozen=True)
class ChoiceQuestion:
    """One of several options."""

    options: tuple[ChoiceOption, ...]
    as_json: bool = False
    """True if the answer must be a JSON object."""
    text: str = ""
    """The whole turn with the question."""
    ranking: bool = False
    """True if all options must be ranked."""


@dataclass(frozen=True)
class ReportQuestion:
    """A report on statistics, as a JSON object of sections."""

    prompt: str
    """The first request, with slots, claims and headings."""


@dataclass(frozen=True)
class GradeQuestion:
    """A score from 0 to 1 for a report, as a JSON object."""

    report: str
    prompt: str
    """The whole request, with the requirements."""


@dataclass(frozen=True)
class VerdictQuestion:
    """Yes or no about quoted parts, or the letter of a question, with a reason."""

    prompt: str
    options: tuple[ChoiceOption, ...] = ()


@dataclass(frozen=True)
class FreeTextQuestion:
    """Free text: a continuation or an opinion."""


AnyQuestion = (
    RatingQuestion
    | ChoiceQuestion
    | ReportQuestion
    | GradeQuestion
    | VerdictQuestion
    | FreeTextQuestion
)


def question_in(turns: Sequence[Turn]) -> AnyQuestion:
    """Return the question of a conversation; options are read from the last user turn."""
    last = next((turn.content for turn in reversed(turns) if turn.role == "user"), "")
    if _REPORT in last:
        opening = next((turn.content for turn in turns if turn.role == "user"), last)
        return ReportQuestion(opening)
    if graded := _GRADED.search(last):
        report = re.sub(r"^> ?", "", graded["report"], flags=re.MULTILINE)
        return GradeQuestion(report.strip(), last)
    options = tuple(ChoiceOption(letter, text.strip()) for letter, text in _OPTION.findall(last))
    if _JUDGED.search(last):
        return VerdictQuestion(last, options)
    spoken = "\n".join(turn.content for turn in turns)
    if len({option.letter for option in options}) >= 2:
        as_json, ranking = (pattern.search(spoken) is not None for pattern in (_JSON, _RANKING))
        return ChoiceQuestion(options, as_json, last, ranking)
    if not (request := _RATING.search(spoken)):
        return FreeTextQuestion()
    # The first range after the request, as a CV before it has ranges of years.
    ranges = ((int(f[1]), int(f[2])) for f in _SCALE.finditer(spoken, request.start()))
    lowest, highest = next((ends for ends in ranges if ends[0] < ends[1]), _USUAL_SCALE)
    whole = _WHOLE.search(spoken) is not None
    return RatingQuestion(lowest, highest, whole, as_json=_JSON.search(spoken) is not None)
