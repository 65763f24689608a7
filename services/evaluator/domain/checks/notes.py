"""What a reader has to be told: the notes of a subject, which a report may neither omit nor deny."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.evaluator.domain.checks.wording import Wording
from shared.contracts import Subject

_MISSING = re.compile(r"answers asked for, (\d+) of them missing")


@dataclass(frozen=True)
class RequiredNote:
    """One kind of note."""

    note: re.Pattern[str]
    """How the platform's own note reads."""
    told: re.Pattern[str]
    """Any of these words tell it."""
    denied: re.Pattern[str]
    """These words contradict it."""
    what: str


def _required(note: str, told: str, denied: str, what: str) -> RequiredNote:
    compiled = [re.compile(each, re.IGNORECASE) for each in (note, told, denied)]
    return RequiredNote(compiled[0], compiled[1], compiled[2], what)


_ALL_LARGE = (
    r"\b(?:both|each|every"
    r"|all)\s+(?:of\s+the\s+)?(?:two\s+)?groups?\b[^.;]{0,30}\b(?:large\s+enough"
    r"|big\s+enough|ample|enough\s+cases|sufficient\w*|plenty|comfortably|amply)"
    r"|\b(?:sample|samples|numbers?|counts?|cells?)\s+(?:is|are|size\s+is"
    r"|sizes\s+are)\s+(?:\w+\s+){0,2}(?:ample|large\s+enough|sufficient"
    r"|plentiful|adequate)|\bno\s+(?:cell|group)\s+is\s+(?:too\s+)?small"
    r"|\benough\s+cases\s+in\s+(?:both|each|every)"
)
NOTES = (
    _required(r"Simpson|turns round", r"strat|simpson|within|subgroup|department|revers|turns?\s+round", r"(?!)", "that the association turns round within strata"),
    _required(r"not shown within strata|pooled table hides", r"strat|within|subgroup|department", r"(?!)", "what the strata say"),
    _required(r"Fewer than \d+ cases", r"\bfew|small|limited|sparse|not\s+enough|too\s+little|insufficient", _ALL_LARGE, "that a group has few cases"),
    _required(r"cell is zero|cell is below|expected count", r"\bcell|zero|small|sparse|exact|\bfew", _ALL_LARGE + r"|\bno\s+cell\s+is\s+(?:zero|empty)|\ball\s+cells\s+are\s+(?:large"
    r"|well\s+filled)", "that a cell is small"),
    _required(r"in conflict", r"conflict|disagree|differ|inconsisten|contradict|diverg", r"\b(?:both|the\s+two)\s+(?:ratios?|measures?)\s+(?:agree|tell\s+the\s+same"
    r"|are\s+in\s+agreement|say\s+the\s+same)", "that the two ratios are in conflict"),
    _required(r"answers asked for, [1-9]\d* of them missing", r"missing|unanswered|no\s+answer|absent|lack", r"\bno\s+(?:answers?|responses?|data|values)\s+(?:is|are|was|were)\s+missing"
    r"|\bnothing\s+is\s+missing|\bwithout\s+(?:any\s+)?missing|\b(?:every|each"
    r"|all)\s+(?:of\s+the\s+)?(?:prompts?|questions?|answers?"
    r"|requests?)\s+(?:\w+\s+){0,2}(?:answered|present|there|received|arrived"
    r"|returned|complete)|\bcomplete\s+(?:data|set\s+of\s+answers)"
    r"|\bno\s+missing\b", "that answers are missing"),
    _required(r"prompt is the unit", r"\bprompts?\b", r"\b(?:the|each|every|a\s+single)\s+(?:answer|response|reply)\s+(?:is|was"
    r"|counts?\s+as|serves?\s+as|forms?)\s+(?:\w+\s+){0,2}(?:the\s+|a\s+"
    r"|one\s+)?(?:\w+\s+){0,2}unit|\b(?:answers|responses|replies)\s+(?:are"
    r"|were)\s+(?:the\s+|counted\s+as\s+"
    r"|treated\s+as\s+)?(?:independent\s+)?units?", "that prompts are the unit"),
    _required(r"each answer is a unit", r"\bprompts?\b|\bbank\b|\bthese\b", r"\b(?:generali[sz]es?|extends?|carr(?:y|ies)\s+over|appl(?:y"
    r"|ies))\s+(?:\w+\s+){0,2}to\s+(?:all|any|other|every|new)\s+prompts?"
    r"|\bholds?\s+for\s+(?:all|any|other|every|new)\s+prompts?", "that the conclusion is about these prompts alone"),
)  # fmt: skip


def omitted_notes(report: str, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault for every note that a report does not tell anywhere."""
    for required in _of(subject):
        if not required.told.search(report):
            yield "note", f"The report does not say {required.what}."


def denied_notes(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault where a sentence contradicts a note."""
    for required in _of(subject):
        found = required.denied.search(wording.text)
        if found and not re.search(
            r"\bnot\s+(?:\w+\s+)?$", wording.text[: found.start()], re.IGNORECASE
        ):
            yield "note", f"The sentence contradicts a note: it should say {required.what}."
            return
    counts = [int(found[1]) for note in subject.notes if (found := _MISSING.search(note))]
    if (
        counts
        and not any(counts)
        and re.search(
            r"\b(?:some|many|several|\w+)\s+answers?\s+(?:are|were|is|was)\s+missing"
            r"|\bmissing\s+answers\s+(?:could|may|might)"
            r"|\bnot\s+all\s+(?:the\s+)?answers",
            wording.text,
            re.IGNORECASE,
        )
        and not re.search(r"\bno(?:ne)?\b", wording.text, re.IGNORECASE)
    ):
        yield "note", "Answers are said to be missing, but none is."


def _of(subject: Subject) -> Sequence[RequiredNote]:
    told = " ".join(subject.notes)
    return [each for each in NOTES if each.note.search(told)]
