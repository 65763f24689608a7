"""Records passed between the steps of a build."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Document:
    """Text of one source."""

    tag: str
    """A short name, unique in the build: the file's path, the page's address."""
    text: str
    licence: str
    links: tuple[str, ...] = ()
    """Titles that the page links to."""


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
