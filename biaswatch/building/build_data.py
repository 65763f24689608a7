"""Records passed between the steps of a build."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Passage:
    """A block of a document: prose, or text left out of it."""

    text: str
    left_out: str | None = None
    """Reason, such as `list entry` or `table`; None for prose."""


@dataclass(frozen=True)
class Document:
    """Prose of one source."""

    tag: str
    """A short name, unique in the build: the file's path, the page's address."""
    text: str
    """Paragraphs, a blank line between them."""
    licence: str
    links: tuple[str, ...] = ()
    """Titles that the page links to."""
    left_out: tuple[Passage, ...] = ()
    """Passages that are not prose: headings, list entries, tables, captions, code."""


def document_of(tag: str, passages: Iterable[Passage], licence: str) -> Document:
    """Return a document with its prose and the passages left out of it."""
    kept = list(passages)
    prose = "\n\n".join(passage.text for passage in kept if passage.left_out is None)
    return Document(tag, prose, licence, left_out=tuple(p for p in kept if p.left_out))


@dataclass(frozen=True)
class SentenceMatch:
    """A sentence that contains a keyword, with its origin."""

    concept: str
    keyword: str
    sentence: str
    source_tag: str
    position: int
    """Position of the sentence in its source, from 1."""
    licence: str
    others: tuple[str, ...] = ()
    """Other keywords in the sentence."""


@dataclass(frozen=True)
class PromptItem:
    """One prompt with its origin: one line of a suite."""

    hit: SentenceMatch
    prompt: str
    concept: str
    baseline: str
    set_id: str
    branched_from: str | None = None
    """The root concept, if this is a counterfactual twin."""


@dataclass(frozen=True)
class Omission:
    """A text that a step dropped, and the reason."""

    step: str
    what: str
    why: str
    keyword: str | None = None
    """The keyword that matched the sentence, if any."""


@dataclass
class BuildLog:
    """Matches, omissions and notes of a build, by step."""

    left: list[Omission] = field(default_factory=list)
    hits: dict[str, dict[str, int]] = field(default_factory=dict)
    """Sentences by concept and keyword; a keyword without any has 0."""
    notes: list[str] = field(default_factory=list)

    def leave_out(self, step: str, what: str, why: str, keyword: str | None = None) -> None:
        """Record an omission."""
        self.left.append(Omission(step, what, why, keyword))

    def counts(self) -> dict[str, dict[str, int]]:
        """Count omissions by step and reason."""
        counts: dict[str, dict[str, int]] = {}
        for omission in self.left:
            reasons = counts.setdefault(omission.step, {})
            reasons[omission.why] = reasons.get(omission.why, 0) + 1
        return counts


Documents = Sequence[Document]
