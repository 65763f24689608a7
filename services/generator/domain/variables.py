"""The variables a scaffold builds its wording from, by the names they have in a suite."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from shared.contracts import Probe

QUESTION, MATERIAL, SCALE = "question", "material", "scale"
CRITERION, OPTION = "criterion:", "option:"

_RANGE = re.compile(r"^\s*(-?\d+)\s*(?:-|to)\s*(-?\d+)\s*(?:,\s*(whole)(?: numbers)?)?\s*$")


class Unfit(Exception):  # noqa: N818 - an outcome that is recorded, not an accident
    """A probe cannot be asked through a scaffold; the message says what it lacks."""


@dataclass(frozen=True)
class Scale:
    """The ends of a rating, both included."""

    lowest: int
    highest: int
    whole: bool
    """Whether only whole numbers will do."""

    def holds(self, value: float) -> bool:
        """Tell whether this is a rating on the scale."""
        whole = not self.whole or value == int(value)
        return self.lowest <= value <= self.highest and whole

    def rounded(self, value: float) -> float:
        """Round to what the scale can say; a half goes to the even neighbour, so nothing drifts."""
        return float(round(value)) if self.whole else round(value, 1)


def question_of(probe: Probe) -> str:
    """Return what is asked, or raise Unfit."""
    return _needed(probe, QUESTION, "what is asked")


def material_of(probe: Probe) -> str:
    """Return what is judged: a CV, a context; may be missing."""
    return probe.variables.get(MATERIAL, "")


def scale_of(probe: Probe) -> Scale:
    """Return the scale, written `1 to 4` or `1 to 4, whole numbers`, or raise Unfit."""
    written = _needed(probe, SCALE, "the ends of the rating, as in `1 to 4, whole numbers`")
    found = _RANGE.match(written)
    if not found or int(found[1]) >= int(found[2]):
        raise Unfit(f"The scale {written[:40]!r} is none; write it as in `1 to 4, whole numbers`.")
    return Scale(int(found[1]), int(found[2]), whole=found[3] is not None)


def has_criteria(probe: Probe) -> bool:
    """Tell whether the probe names criteria."""
    return bool(_with_prefix(probe, CRITERION))


def criteria_of(probe: Probe) -> Mapping[str, str]:
    """Return the guidance of each criterion by its name, or raise Unfit where there is none."""
    criteria = _with_prefix(probe, CRITERION)
    if not criteria:
        raise Unfit("There are no criteria; name each in a variable `criterion:<name>`.")
    for name, guidance in criteria.items():
        if not guidance.strip():
            raise Unfit(f"The criterion {name} has no guidance; write what it looks at.")
    return criteria


def options_of(probe: Probe) -> Mapping[str, str]:
    """Return the options to choose from by their letters; there may be none."""
    return _with_prefix(probe, OPTION)


def _with_prefix(probe: Probe, prefix: str) -> dict[str, str]:
    return {
        name.removeprefix(prefix): value
        for name, value in sorted(probe.variables.items())
        if name.startswith(prefix)
    }


def _needed(probe: Probe, name: str, what: str) -> str:
    value = probe.variables.get(name, "").strip()
    if not value:
        raise Unfit(f"The variable `{name}` is missing: {what}.")
    return value
