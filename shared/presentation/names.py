"""Names for people: models and scaffolds, statements of a judge, objects of audit entries."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from biaswatch.shared.contracts import AuditAction, AuditEntry
from biaswatch.shared.formatting import number_name

DIRECT = "direct"
"""The scaffold that asks the question as it is."""


class FromScaffold(Protocol):
    """Whatever was found under one scaffold."""

    @property
    def scaffold(self) -> str:
        """How it was asked."""


class FromTarget(FromScaffold, Protocol):
    """Whatever was found of one target under one scaffold."""

    @property
    def target(self) -> str:
        """Who was asked."""


@dataclass(frozen=True)
class ModelNames:
    """Names of what stands together in a list, a table or a picture."""

    with_scaffold: bool

    @classmethod
    def among(cls, found: Iterable[FromScaffold]) -> "ModelNames":
        """Return the names of these, which stand together."""
        return cls(any(each.scaffold != DIRECT for each in found))

    def of(self, found: FromTarget, called: str = "") -> str:
        """Return the target, as it is called, and the scaffold where these say theirs."""
        return self.asked(called or found.target, found.scaffold)

    def asked(self, what: str, scaffold: str) -> str:
        """Return what was asked, and how where these say theirs."""
        return f"{what}, {scaffold_words(scaffold)}" if self.with_scaffold else what


def scaffold_words(scaffold: str) -> str:
    """Return how something was asked, for people."""
    return scaffold.replace("_", " ")


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
    "own_a": "reasoning A fits its own question",
    "own_b": "reasoning B fits its own question",
    "compatible": "both answers can be right",
}


SHORT_ID = 12
"""So many digits of an id tell what it is, and find it again."""
NAMED_BY = {"run": "suite", "labels": "suite", "alarm": "monitor", "interpretation": "writer"}
"""Of what has an id in the place of a name: the detail that says more to people."""
NAMELESS = {
    "run": "a run", "labels": "labels of a run", "alarm": "an alarm",
    "interpretation": "an interpretation", "answers": "answers of a run",
}  # fmt: skip
"""What stands where nothing has the name of such a thing any more."""
OF_RUNS = frozenset({AuditAction.ANSWERS_RESTORE, AuditAction.ANSWERS_EXPIRE})
"""Acts on a run whose kind does not say so."""
IDS = frozenset({"monitor_id", "sample"})
"""Details that are ids, which are for programs: JSON has them."""
SAID = {"targets": "models", "number": "measured number"}


@dataclass(frozen=True)
class ActWords:
    """What was acted on."""

    name: str
    """Empty where it has none but its id."""
    id: str
    """The first digits of its id; empty where its name tells."""
    more: str
    """What else tells this act from others."""


def kind_of(entry: AuditEntry) -> str:
    """Return what kind of thing was acted on."""
    return entry.action.value.partition(".")[0]


def is_about_a_run(entry: AuditEntry) -> bool:
    """Tell whether the id of an entry is a run's."""
    purged = entry.action is AuditAction.TEXTS_PURGE and entry.details.get("what") == "run"
    return purged or entry.action in OF_RUNS or kind_of(entry) in {"run", "labels"}


def act_words(entry: AuditEntry, names: Mapping[str, str] | None = None) -> ActWords:
    """Return what an entry is about, without the ids that only programs need.

    `names` are those that the store knows, of what an entry names by its id alone.
    """
    kind, known = kind_of(entry), (names or {}).get(entry.subject, "")
    named_by = NAMED_BY.get(kind)
    left = [(name, value) for name, value in entry.details.items() if name not in IDS]
    if named_by is None and is_about_a_run(entry):
        name = known or NAMELESS.get(kind, "a run")
        return ActWords(name, entry.subject[:SHORT_ID], _details(left))
    if named_by is None:
        return ActWords(entry.subject, "", _details(left))
    name = entry.details.get(named_by) or known or NAMELESS[kind]
    left = [each for each in left if each[0] != named_by]
    return ActWords(name, entry.subject[:SHORT_ID], _details(left))


def _details(left: list[tuple[str, str]]) -> str:
    return "; ".join(f"{SAID.get(name, name)}: {_value(name, value)}" for name, value in left)


def _value(name: str, value: str) -> str:
    extractor, _, feature = value.partition(".")
    return number_name(extractor, feature) if name == "number" and feature else value
