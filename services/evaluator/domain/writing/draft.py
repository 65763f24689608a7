"""Drafts: sections of sentences with slots and claims, as a model returns them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from biaswatch.services.evaluator.domain.model_questions import fields_in
from biaswatch.services.evaluator.domain.writing.claims import (
    Claim,
    claim_in,
    claim_schemas,
    closed_object,
)
from biaswatch.services.evaluator.domain.writing.outline import OUTLINE, ReportSection
from biaswatch.services.evaluator.domain.writing.slots import rendered, slots_of
from biaswatch.shared.contracts import Subject
from biaswatch.shared.parsing import Unreadable

MAX_SENTENCES = 200
MAX_SENTENCE_CHARS = 1000
MAX_CLAIMS = 12


@dataclass(frozen=True)
class Sentence:
    """One sentence with slots, and the claims that it makes."""

    text: str
    claims: tuple[Claim, ...] = ()
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

    def of(self, heading: str) -> list[Section]:
        """Return the sections with a heading."""
        return [section for section in self.sections if section.heading == heading]


@dataclass
class RenderedReport:
    """A report as Markdown, with the place of each sentence."""

    text: str = ""
    spans: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    """Start and end of each sentence, by heading and number from 1."""

    def add(self, text: str) -> None:
        """Append text."""
        self.text += text

    def add_sentence(self, heading: str, number: int, text: str) -> None:
        """Append a sentence and note its place."""
        start = len(self.text)
        self.add(text)
        self.spans[heading, number] = (start, len(self.text))


def draft_in(reply: str) -> Draft:
    """Return the draft in a reply.

    Raises
    ------
    Unreadable
        The reply is not JSON of this form.
    """
    sections = fields_in(reply).get("sections")
    if not isinstance(sections, list) or not sections:
        raise Unreadable("the reply has no list `sections`")
    draft = Draft(tuple(_section(section) for section in sections))
    if sum(len(section.sentences) for section in draft.sections) > MAX_SENTENCES:
        raise Unreadable(f"the report has more than {MAX_SENTENCES} sentences")
    return draft


def _section(value: Any) -> Section:
    if not isinstance(value, dict) or not isinstance(value.get("sentences"), list):
        raise Unreadable("a section is not an object with `heading` and `sentences`")
    sentences = tuple(_sentence(sentence) for sentence in value["sentences"])
    return Section(str(value.get("heading", "")).strip().lstrip("#").strip(), sentences)


def _sentence(value: Any) -> Sentence:
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise Unreadable("a sentence is not an object with `text` and `claims`")
    text = " ".join(value["text"].split())
    if not text or len(text) > MAX_SENTENCE_CHARS:
        raise Unreadable(f"a sentence is empty or has more than {MAX_SENTENCE_CHARS} characters")
    claims = value.get("claims", [])
    if not isinstance(claims, list):
        raise Unreadable("`claims` is not a list")
    if len(claims) > MAX_CLAIMS:
        return Sentence(text, (), f"more than {MAX_CLAIMS} claims")
    try:
        return Sentence(text, tuple(map(claim_in, claims)))
    except Unreadable as error:
        return Sentence(text, (), str(error))


def render(
    draft: Draft, subject: Subject, withheld: Mapping[tuple[str, int], str]
) -> RenderedReport:
    """Return a report in the order of the outline, with numbers filled in.

    `withheld` gives the text that replaces a sentence that failed.
    """
    report, slots = RenderedReport(), slots_of(subject)
    for part in draft.outline:
        report.add(f"{part.heading}\n")
        sentences = [s for section in draft.of(part.title) for s in section.sentences]
        for number, sentence in enumerate(sentences, start=1):
            report.add(" " if number > 1 else "")
            text = withheld.get((part.title, number)) or rendered(sentence.text, slots)
            report.add_sentence(part.title, number, text)
        report.add("\n\n" if sentences else "\n")
    report.text = report.text.rstrip() + "\n"
    return report


def answer_schema(subject: Subject, *, bounded: bool = False) -> dict[str, JsonValue]:
    """Return the JSON Schema of a draft: closed objects, every field required.

    Its enumerations hold the measures, tests, groups and caveats of the subject. With `bounded`,
    which not every provider accepts, sentences and lists have a maximum length.
    """
    text: dict[str, JsonValue] = {"type": "string"}
    claims: dict[str, JsonValue] = {"type": "array", "items": {"anyOf": claim_schemas(subject)}}
    sentences: dict[str, JsonValue] = {"type": "array"}
    if bounded:
        text |= {"maxLength": 100}
        claims |= {"maxItems": 1}
        sentences |= {"minItems": 1, "maxItems": 3}
    sentences["items"] = closed_object({"text": text, "claims": claims})
    titles: list[JsonValue] = [section.title for section in OUTLINE if section.most]
    heading: JsonValue = {"type": "string", "enum": titles}
    sections: dict[str, JsonValue] = {"type": "array"}
    if bounded:
        sections |= {"minItems": 1, "maxItems": len(titles)}
    sections["items"] = closed_object({"heading": heading, "sentences": sentences})
    return closed_object({"sections": sections})


def as_json(draft: Draft) -> str:
    """Return the JSON of a draft, as a model writes it."""
    sections = [
        {
            "heading": section.heading,
            "sentences": [
                {"text": s.text, "claims": [claim.fields for claim in s.claims]}
                for s in section.sentences
            ],
        }
        for section in draft.sections
    ]
    return json.dumps({"sections": sections}, ensure_ascii=False)
