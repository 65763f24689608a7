"""What an audit entry is about, as people call it: a name, and the first digits of an id."""

from collections.abc import Mapping
from dataclasses import dataclass

from biaswatch.shared.contracts import AuditAction, AuditEntry
from biaswatch.shared.formatting import number_name

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
