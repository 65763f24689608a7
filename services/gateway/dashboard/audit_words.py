"""What an audit entry is about, as people call it: a name, and the first digits of an id."""

from dataclasses import dataclass

from shared.contracts import AuditEntry
from shared.formatting import number_name

SHORT_ID = 12
"""So many digits of an id tell what it is, and find it again."""
NAMED_BY = {"run": "suite", "labels": "suite", "alarm": "monitor", "interpretation": "writer"}
"""Of what has an id in the place of a name: the detail that says more to people."""
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


def act_words(entry: AuditEntry) -> ActWords:
    """Return what an entry is about, without the ids that only programs need."""
    kind = entry.action.value.partition(".")[0]
    named_by = NAMED_BY.get(kind)
    left = [(name, value) for name, value in entry.details.items() if name not in IDS]
    if named_by is None:
        return ActWords(entry.subject, "", _details(left))
    name = entry.details.get(named_by, "")
    left = [each for each in left if each[0] != named_by]
    return ActWords(name, entry.subject[:SHORT_ID], _details(left))


def _details(left: list[tuple[str, str]]) -> str:
    return "; ".join(f"{SAID.get(name, name)}: {_value(name, value)}" for name, value in left)


def _value(name: str, value: str) -> str:
    extractor, _, feature = value.partition(".")
    return number_name(extractor, feature) if name == "number" and feature else value
