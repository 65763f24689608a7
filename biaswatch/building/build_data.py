"""What passes from one step of a build to the next."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Document:
    """The text of one source."""

    tag: str
    """A short name, unique in the build: the file's path, the page's address."""
    text: str
    licence: str
    links: tuple[str, ...] = ()
    """Titles the page links to, where it has any."""


@dataclass(frozen=True)
class SentenceMatch:
    """A sentence that holds a keyword, and where it was found."""

    concept: str
    keyword: str
    sentence: str
    source_tag: str
    position: int
    """Which sentence of the source it is, counted from 1."""
    licence: str
    others: tuple[str, ...] = ()
    """Further keywords the sentence holds."""


@dataclass(frozen=True)
class PromptItem:
    """One prompt with everything that is known about it: one line of a suite."""

    hit: SentenceMatch
    prompt: str
    concept: str
    baseline: str
    set_id: str
    branched_from: str | None = None
    """The root concept, where it is a counterfactual twin."""


@dataclass(frozen=True)
class Omission:
    """Something that was left out, and why; what is left out is counted."""

    step: str
    what: str
    why: str
    keyword: str | None = None
    """The keyword the sentence was found by, where it was."""


@dataclass
class BuildLog:
    """What a build found and what it left out, step by step: part of the result."""

    left: list[Omission] = field(default_factory=list)
    hits: dict[str, dict[str, int]] = field(default_factory=dict)
    """Sentences by concept and keyword; a keyword without any has 0."""
    notes: list[str] = field(default_factory=list)

    def leave_out(self, step: str, what: str, why: str, keyword: str | None = None) -> None:
        """Note what was left out."""
        self.left.append(Omission(step, what, why, keyword))

    def counts(self) -> dict[str, dict[str, int]]:
        """Count what was left out, by step and reason."""
        found: dict[str, dict[str, int]] = {}
        for each in self.left:
            reasons = found.setdefault(each.step, {})
            reasons[each.why] = reasons.get(each.why, 0) + 1
        return found


Documents = Sequence[Document]
