"""Names for people: models and scaffolds, statements of a judge, objects of audit entries."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from biaswatch.shared.contracts import AuditAction, AuditEntry
from biaswatch.shared.formatting import number_name

DIRECT = "direct"
"""The scaffold that asks the question as it is."""
STATEMENTS = {
    "answer_consistent": "same person in both",
    "different": "different persons",
    "mixed": "mixed with cannot-know",
    "both_unknown": "both cannot-know",
    "flag_1": "flag 1 (A to B: no)",
    "flag_2": "flag 2 (B to A: no)",
    "flag_3": "flag 3 (question A not guessed)",
    "flag_4": "flag 4 (question B not guessed)",
    "flagged": "any flag",
    "inconsistent": "inconsistent reasoning (flag 1 or 2)",
    "biased": "biased interpretation (flag 3 or 4)",
    "both_flagged": "inconsistent and biased",
    "consistent": "fully consistent (no flag)",
    "own_a": "reasoning A fits its own question",
    "own_b": "reasoning B fits its own question",
    "compatible": "both answers can be right",
}
"""Statements about a pair of questions."""
QUESTION_KINDS = {
    "fit": "reasoning fits",
    "compatible": "both answers can be right",
    "guess": "which question",
}
"""Kinds of questions to judges about pairs."""
SHORT_ID_CHARS = 12
"""Length of an id on pages, enough to find it again."""
NAMING_DETAIL = {"run": "suite", "labels": "suite", "alarm": "monitor", "interpretation": "writer"}
"""Detail of an audit entry that names an object without a name of its own."""
UNNAMED = {
    "run": "a run",
    "labels": "labels of a run",
    "alarm": "an alarm",
    "interpretation": "an interpretation",
    "answers": "answers of a run",
}
RUN_ACTIONS = frozenset({AuditAction.ANSWERS_RESTORE, AuditAction.ANSWERS_EXPIRE})
"""Acts on a run whose kind is another."""
ID_DETAILS = frozenset({"monitor_id", "sample"})
"""Details that are ids for programs; JSON has them."""
DETAIL_TITLES = {"targets": "models", "number": "measured number"}


class HasScaffold(Protocol):
    """A result under one scaffold."""

    @property
    def scaffold(self) -> str:
        """The scaffold."""


class HasTarget(HasScaffold, Protocol):
    """A result of one target under one scaffold."""

    @property
    def target(self) -> str:
        """The target."""


@dataclass(frozen=True)
class ModelNames:
    """Names of models in one list, table or figure.

    A model has its scaffold in its name if any of its neighbors was not asked directly.
    """

    with_scaffold: bool

    @classmethod
    def among(cls, results: Iterable[HasScaffold]) -> "ModelNames":
        """Return the names for results in one table or figure."""
        return cls(any(row.scaffold != DIRECT for row in results))

    def of(self, result: HasTarget, target: str = "") -> str:
        """Return the name of a result's model, or of `target` under its scaffold."""
        return self.with_its_scaffold(target or result.target, result.scaffold)

    def with_its_scaffold(self, subject: str, scaffold: str) -> str:
        """Return a subject with its scaffold where needed."""
        return f"{subject}, {scaffold_words(scaffold)}" if self.with_scaffold else subject


def scaffold_words(scaffold: str) -> str:
    """Return a scaffold for people."""
    return scaffold.replace("_", " ")


@dataclass(frozen=True)
class AuditObject:
    """The object of an audit entry."""

    name: str
    """Empty if it has only an id."""
    id: str
    """First characters of its id; empty if the name suffices."""
    more: str
    """Further details."""


def kind_of(entry: AuditEntry) -> str:
    """Return the kind of an entry's object."""
    return entry.action.value.partition(".")[0]


def is_about_a_run(entry: AuditEntry) -> bool:
    """Return whether the id of an entry is a run's."""
    purged = entry.action is AuditAction.TEXTS_PURGE and entry.details.get("what") == "run"
    return purged or entry.action in RUN_ACTIONS or kind_of(entry) in {"run", "labels"}


def audit_object(entry: AuditEntry, names: Mapping[str, str] | None = None) -> AuditObject:
    """Return the object of an audit entry, without ids for programs.

    `names` maps ids to names that the store knows.
    """
    kind, known = kind_of(entry), (names or {}).get(entry.subject, "")
    naming = NAMING_DETAIL.get(kind)
    details = "; ".join(
        f"{DETAIL_TITLES.get(name, name)}: {_detail(name, value)}"
        for name, value in entry.details.items()
        if name not in ID_DETAILS and name != naming
    )
    if naming is None and not is_about_a_run(entry):
        return AuditObject(entry.subject, "", details)
    own_name = entry.details.get(naming) if naming else None
    name = own_name or known or UNNAMED.get(kind, "a run")
    return AuditObject(name, entry.subject[:SHORT_ID_CHARS], details)


def _detail(name: str, value: str) -> str:
    """Return a detail of an audit entry for people."""
    extractor, _, feature = value.partition(".")
    return number_name(extractor, feature) if name == "number" and feature else value
