"""What a reader has to be told: the notes of a subject, which a report may neither omit nor deny."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from biaswatch.services.evaluator.domain.checks.plain_negation import NOT, plainly
from biaswatch.services.evaluator.domain.checks.wording import Wording
from biaswatch.shared.contracts import Subject

_MISSING = re.compile(r"answers asked for, (\d+) of them missing")
_SUPPOSED = re.compile(r"\b(?:if|would|could(?! not)|may|might|whether|had)\b")
_PRESUMED = re.compile(r"^(?:the\s+)?missing\s+(?:answers|responses|replies)\b")
_LOST = re.compile(
    r"\bmissing\b|\bunanswered\b|\bunavailable\b|\blost\b|\bloss\s+of\b|\bwithout\s+an?\s+(?:answer|reply|response)|\bgaps\s+in\s+(?:the|our|this)\s+\w+\b|\bincomplete\b|\bdropped\s+out\b"
)
_COMPLETE = re.compile(
    r"\b(?:data|answers|responses|set|records?)\s+(?:\w+\s+){0,2}complete\b|\bcomplete\s+(?:data|set|answers|responses)\b"
    r"|\b(?:all|every|each)\s+(?:\w+\s+)?(?:records?|rows?|items?|entr(?:y|ies)|cases?|prompts?|questions?|cells?)\s+(?:has|have|carr(?:y|ies)|comes?\s+with|contains?|shows?|holds?|is\s+filled|bears?|yielded|produced|got|received|led\s+to)\s+(?:an?|its|their|some|one)?\s*(?:\w+\s+)?(?:values?|scores?|ratings?|answers?|repl(?:y|ies)|responses?|results?|outcomes?|entr(?:y|ies))\b"
    r"|\b(?:all|every|each|few|some|several|handful)\b(?:\s+\w+){0,3}?\s+(?:prompts?|questions?|answers?|responses?|repl(?:y|ies)|requests?)(?:\s+\w+){0,3}?\s+(?:answered|present|there|received|arrived?|returned|complete|back|available|came|got|obtained|an?\s+(?:answer|reply))\b"
    r"|\b(?:an?|the|one)\s+(?:answer|reply|response)\s+(?:for|to|from)\s+(?:each|every|all)\b"
    r"|\b(?:answers?|responses?|repl(?:y|ies))\b[^;.]*\b(?:available|received|obtained|came\s+back|arrived?)\b"
)
_COUNTED = re.compile(
    r"\bunits?\b|\blevel\s+of\b|\b(?:we|is|are|was|were)\s+count(?:s|ed)?\b|\bsample\s+size\b|\breckon\w*|\bclustered\b|\bresampl\w*|\bbootstrap\w*|\buncertainty\b|\bindependent\b|\bcount(?:s|ed)?\s+(?:as|once|the|answers|responses|replies|single)\b"
)
_NONE_CAME = re.compile(
    r"\bno\s+(?:\w+\s+)?(?:answers?|responses?|repl(?:y|ies))\s+(?:was|were|is|are|has|had|came|arrived|could|exists?|recorded|received|given|at\s+all)\b(?!\s+(?:missing|lost|lacking|absent|unavailable))"
)
_CAME = "obtained|received|recorded|returned|available|collected|given|retrieved|delivered|present|there"
_NOT_OBTAINED = re.compile(
    rf"\b(?:answers?|responses?|repl(?:y|ies))\b[^.;]{{0,30}}?\b(?:could\s+not\s+be|(?:were|was|are|is)\s+(?:not|never))\s+(?:{_CAME})\b"
)
_LACKING = re.compile(
    r"\b(?:lacks|lack|lacked|misses|missed)\s+(?:\w+\s+){0,3}(?:answers?|responses?|repl(?:y|ies))\b"
)
_WITHOUT = re.compile(r"\bwithout\s+(?:an?|any)\s+(?:\w+\s+)?(?:answer|reply|response)s?\b")
_ASKED_FOR = r"(?:asked|requested|expected|sought|planned|sent|prompts?|questions|solicited|foreseen|due|ordered|intended)"
_FEWER = re.compile(
    rf"\b(?:fewer|less|not\s+as\s+many|not\s+every|not\s+all|short\s+of|below|smaller|lower)\b[^;.]*\b{_ASKED_FOR}\b"
)
_AS_MANY = re.compile(
    rf"(?<!not )\bas\s+many\b[^;.]*\bas\b[^;.]*\b{_ASKED_FOR}\b|\b(?:equals?|matches|same\s+as)\b[^;.]*\bnumber\b[^;.]*\b{_ASKED_FOR}\b"
)
_UNUSED = re.compile(
    r"\b(?:could|can)\s+not\s+be\s+(?:used|counted|scored|included|analy[sz]ed|read|evaluated|rated)\b"
)
_NONE_MISSING = re.compile(
    r"\bzero\s+(?=(?:\w+\s+)?(?:answers?|responses?|repl(?:y|ies)|missing|gaps?))"
)
_AWAY = re.compile(
    r"\b(?:lacking|absent|wanting|not\s+there|not\s+present|unaccounted\s+for|left\s+blank|blank|unreturned|unobtained)\b"
)
_ANSWER, _PROMPT = (
    re.compile(r"\b(?:answers?|responses?|repl(?:y|ies))\b"),
    re.compile(r"\bprompts?\b"),
)
_NOT_THIS = re.compile(
    r"\b(?:and\s+)?(?:not|rather\s+than|instead\s+of|as\s+opposed\s+to)\s+(?:over\s+|across\s+|of\s+|on\s+|by\s+|for\s+|to\s+)?(?:the\s+|each\s+|single\s+|individual\s+|every\s+)*(?:answers?|responses?|repl(?:y|ies)|prompts?)\b"
)
_OTHER_UNIT = re.compile(
    r"\bunits?\b[^.;]*\b(?:are|is|were|was)\s+(?:the\s+)?(?:people|persons|cases|answers|responses|replies)\b[^.;]*\bnot\s+(?:the\s+)?prompts"
    r"|\b(?:answers|responses|replies)\s+(?:are|were)\s+(?:\w+\s+){0,2}independent\b"
    r"|\b(?:person|people|case|individual|participant|respondent|user)s?\b[^.;]*\b(?:as|is|are)\s+(?:the\s+)?units?\b(?![^.;]*\bprompt)|\bunits?\b[^.;]*\b(?:is|are)\s+(?:the\s+|each\s+|a\s+)?(?:person|people|case|individual|participant|respondent|user)s?\b(?![^.;]*\bprompt)"
)
_REACHES = r"(?:generali[sz]\w*|carr(?:y|ies)\s+over|extends?|appl(?:y|ies)|holds?|valid|transfers?|true|binding|speaks?|concerns?|covers?|bears?\s+on|relates?|includes?|about)"
_EVERYWHERE = r"(?:(?:every|any|all|each)\s+(?:other\s+|possible\s+|conceivable\s+)?(?:prompts?|kinds?|sorts?|questions?|populations?|models?|people|persons?|individuals?|human\s+beings?|bearers?)|of\s+every\s+kind|of\s+all\s+kinds|other\s+populations?|every(?:one|body|where)|any(?:one|body|where)|society|humanity|mankind|the\s+(?:whole\s+)?(?:world|public|general\s+population)|people\s+in\s+general|at\s+large|universally|whatever\s+(?:prompt|population|question)|in\s+general|everywhere|elsewhere|beyond\s+(?:the|this|that)\s+population)"
_BEYOND = re.compile(rf"\b{_REACHES}\b[^.;]*\b{_EVERYWHERE}\b")
"""Says that a result holds for more than the population its prompts were drawn from."""


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


def _required(note: str, statement: str, denied: str, what: str) -> RequiredNote:
    compiled = [re.compile(pattern, re.IGNORECASE) for pattern in (note, statement, denied)]
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
    _required(r"answers asked for, [1-9]\d* of them missing", r"missing|unanswered|no\s+answer|absent|lack", r"(?!)", "that answers are missing"),
    _required(r"prompt is the unit", r"\bprompts?\b", r"(?!)", "that prompts are the unit"),
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
        match = required.denied.search(wording.text)
        if match and not re.search(
            r"\bnot\s+(?:\w+\s+)?$", wording.text[: match.start()], re.IGNORECASE
        ):
            yield "note", f"The sentence contradicts a note: it should say {required.what}."
            return
    yield from _missing_faults(wording, subject)
    yield from _unit_faults(wording, subject)


def _missing_faults(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault where answers are said to be missing and none is, or the other way round."""
    counts = [int(match[1]) for note in subject.notes if (match := _MISSING.search(note))]
    text = _UNUSED.sub("are left out", wording.text.lower())
    if re.search(r"\b(?:answers?|responses?|repl(?:y|ies))\b", text):
        text = _AS_MANY.sub("no answer is missing", _FEWER.sub("an answer is missing", text))
    for lost in (_NONE_CAME, _NOT_OBTAINED, _LACKING, _WITHOUT):
        text = lost.sub("an answer is missing", text)
    plain = plainly(_AWAY.sub("missing", _NONE_MISSING.sub("no ", text)))
    if not counts or (_SUPPOSED.search(plain) and not _PRESUMED.search(plain)):
        return
    odd = len(NOT.findall(plain)) % 2 == 1
    if _LOST.search(plain):
        if odd is not any(counts):
            return
        if any(counts):
            yield "note", "The sentence contradicts a note: it should say that answers are missing."
        else:
            yield "note", "Answers are said to be missing, but none is."
    elif _COMPLETE.search(plain) and odd is not any(counts):
        message = (
            "it should say that answers are missing" if any(counts) else "no answer is missing"
        )
        yield "note", f"The sentence contradicts a note: {message}."


def _unit_faults(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault where answers are said to be what was counted, and prompts were."""
    if not any("prompt is the unit" in note for note in subject.notes):
        return
    lower = wording.text.lower()
    beyond = _BEYOND.search(lower) and len(NOT.findall(plainly(lower))) % 2 == 0
    if _OTHER_UNIT.search(lower) or beyond:
        yield "note", "The sentence contradicts a note: it should say that prompts are the unit."
        return
    text = _NOT_THIS.sub(" ", wording.text.lower())
    if _COUNTED.search(text) and _ANSWER.search(text) and not _PROMPT.search(text):
        yield "note", "The sentence contradicts a note: it should say that prompts are the unit."


def _of(subject: Subject) -> Sequence[RequiredNote]:
    notes_text = " ".join(subject.notes)
    return [note for note in NOTES if note.note.search(notes_text)]
