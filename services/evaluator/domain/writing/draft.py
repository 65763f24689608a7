"""Drafts: sections of sentences with slots and claims, as a model returns them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import JsonValue

from biaswatch.services.evaluator.domain.model_questions import fields_in, list_in
from biaswatch.services.evaluator.domain.writing.claims import TypedClaim, claim_in, claim_schemas
from biaswatch.services.evaluator.domain.writing.outline import OUTLINE, ReportSection
from biaswatch.services.evaluator.domain.writing.slots import rendered, slots_of
from biaswatch.shared.contracts import Fault, Subject, UncheckedSentence
from biaswatch.shared.contracts.probe import closed_object
from biaswatch.shared.parsing import Unreadable

MAX_SENTENCES = 200
MAX_SENTENCE_CHARS = 1000
MAX_CLAIMS = 12
Place = tuple[str, int]
"""The heading of a sentence, and its number under it from 1; 0 for the heading itself."""


@dataclass(frozen=True)
class Sentence:
    """One sentence with slots, and the claims that it makes."""

    text: str
    claims: tuple[TypedClaim, ...] = ()
    unreadable: str | None = None
    """Why one of its claims cannot be read."""

    def topics(self, kind: str) -> set[str]:
        """Return the topics of its claims of a type."""
        return {claim.topic for claim in self.claims if claim.type == kind}


@dataclass(frozen=True)
class Section:
    """The sentences under one heading."""

    heading: str
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class Draft:
    """A report before its numbers are filled in."""

    sections: tuple[Section, ...]
    outline: tuple[ReportSection, ...] = OUTLINE
    """The headings, in their order; sections with other headings are faults."""

    @cached_property
    def sentences(self) -> dict[Place, Sentence]:
        """The sentences by their places; sections with the same heading are one."""
        by_heading: dict[str, list[Sentence]] = {}
        for section in self.sections:
            by_heading.setdefault(section.heading, []).extend(section.sentences)
        return {
            (heading, number): sentence
            for heading, sentences in by_heading.items()
            for number, sentence in enumerate(sentences, start=1)
        }


@dataclass(frozen=True)
class CheckedReport:
    """A report as Markdown with its faults; without a text if none can be read."""

    text: str | None = None
    reason: str | None = None
    """Reason for a missing report."""
    faults: tuple[Fault, ...] = ()
    hints: tuple[Fault, ...] = ()
    statements: int = 0
    unchecked: tuple[UncheckedSentence, ...] = ()
    failed: bool = False
    repairs: int = 0
    calls: int = 0
    draft: Draft | None = None
    """The draft of a writer that passed."""
    spans: Mapping[Place, tuple[int, int]] = field(default_factory=dict)
    """Start and end of the sentences of a draft."""

    def fault(self, kind: str, place: Place, message: str) -> Fault:
        """Return a fault, or a hint, about a sentence of a draft."""
        start, end = self.spans.get(place, (None, None))
        return Fault(kind=kind, where=place[0][:80], sentence=message, start=start, end=end)


def draft_in(reply: str) -> Draft:
    """Return the draft in a reply.

    Raises
    ------
    Unreadable
        The reply is not JSON of this form.
    """
    draft = Draft(tuple(map(_section, list_in(fields_in(reply), "sections"))))
    if not 0 < len(draft.sentences) <= MAX_SENTENCES:
        raise Unreadable(f"the report has no sentences, or more than {MAX_SENTENCES}")
    return draft


def _section(value: Any) -> Section:
    sentences = tuple(map(_sentence, list_in(value, "sentences")))
    return Section(str(value.get("heading", "")).strip().lstrip("#").strip(), sentences)


def _sentence(value: Any) -> Sentence:
    text = value.get("text") if isinstance(value, dict) else None
    text = " ".join(text.split()) if isinstance(text, str) else ""
    if not 0 < len(text) <= MAX_SENTENCE_CHARS:
        raise Unreadable(f"a sentence has no `text` of 1 to {MAX_SENTENCE_CHARS} characters")
    claims = list_in({"claims": [], **value}, "claims")
    if len(claims) > MAX_CLAIMS:
        return Sentence(text, (), f"more than {MAX_CLAIMS} claims")
    try:
        return Sentence(text, tuple(map(claim_in, claims)))
    except Unreadable as error:
        return Sentence(text, (), str(error))


def render(draft: Draft, subject: Subject, withheld: Mapping[Place, str]) -> CheckedReport:
    """Return a report in the order of the outline, with numbers filled in.

    `withheld` gives the text that replaces a sentence that failed.
    """
    text, slots = "", slots_of(subject)
    spans: dict[Place, tuple[int, int]] = {}
    for part in draft.outline:
        own = {place: s for place, s in draft.sentences.items() if place[0] == part.title}
        text += f"{'#' * part.level} {part.title}\n"
        for place, sentence in own.items():
            text += " " if place[1] > 1 else ""
            start = len(text)
            text += withheld.get(place) or rendered(sentence.text, slots)
            spans[place] = (start, len(text))
        text += "\n\n" if own else "\n"
    return CheckedReport(text.rstrip() + "\n", spans=spans)


def answer_schema(subject: Subject, *, bounded: bool = False) -> dict[str, JsonValue]:
    """Return the JSON Schema of a draft: closed objects, every field required.

    Its enumerations hold the measures, tests, groups and caveats of the subject. With `bounded`,
    which not every provider accepts, sentences and lists have a maximum length.
    """
    titles: list[JsonValue] = [section.title for section in OUTLINE if section.most]

    def array(items: JsonValue, **bounds: JsonValue) -> dict[str, JsonValue]:
        return {"type": "array", **(bounds if bounded else {}), "items": items}

    text: JsonValue = {"type": "string", **({"maxLength": 100} if bounded else {})}
    claims = array({"anyOf": claim_schemas(subject)}, maxItems=1)
    sentences = array(closed_object({"text": text, "claims": claims}), minItems=1, maxItems=3)
    heading: JsonValue = {"type": "string", "enum": titles}
    section = closed_object({"heading": heading, "sentences": sentences})
    return closed_object({"sections": array(section, minItems=1, maxItems=len(titles))})
