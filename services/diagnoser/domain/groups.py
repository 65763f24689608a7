"""Values of a group, brought to units: repeats of a prompt are one unit, not several."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from math import isfinite

from services.diagnoser.domain.cases import Case


@dataclass(frozen=True)
class Value:
    """One response's number, and which prompt and set it belongs to."""

    unit: str
    set: str | None
    value: float


@dataclass
class Group:
    """One group's numbers, and why others are missing."""

    values: list[Value] = field(default_factory=list)
    missing: Counter[str] = field(default_factory=Counter)

    def add(self, case: Case, value: float | None) -> None:
        """Add a number, or count its absence under its reason."""
        if value is None:
            self.missing[case.why_missing or "undefined"] += 1
        elif not isfinite(value):
            self.missing["not finite"] += 1
        else:
            self.values.append(Value(case.unit, case.set, value))

    def by_unit(self) -> list[float]:
        """Give the mean of each prompt over its repeats."""
        return list(self._means("unit").values())

    def by_set(self) -> dict[str, float]:
        """Give the mean of each counterfactual set over its prompts, each over its repeats."""
        return self._means("set")

    def selected(self, threshold: float) -> "Group":
        """Give the group with 1 for every value at or above the threshold, else 0."""
        return Group([Value(v.unit, v.set, float(v.value >= threshold)) for v in self.values])

    def _means(self, what: str) -> dict[str, float]:
        units: dict[tuple[str, str], list[float]] = defaultdict(list)
        for value in self.values:
            owner = value.set if what == "set" else value.unit
            if owner is not None:
                units[owner, value.unit].append(value.value)
        owners: dict[str, list[float]] = defaultdict(list)
        for (owner, _), values in sorted(units.items()):
            owners[owner].append(sum(values) / len(values))
        return {owner: sum(means) / len(means) for owner, means in owners.items()}
