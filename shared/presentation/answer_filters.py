"""Filter for the answers of a run, read from an address and written into it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import starmap
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field, field_validator

from biaswatch.shared.analysis.findings.measured_columns import why_undefined
from biaswatch.shared.contracts import Features, Probe, Response, SuiteProbe

ANY_REASON = "any"
MAX_CHARS = 1100
"""Length of a field: a dimension and a group, each at its longest."""


@lru_cache(maxsize=10_000)
def _encoded(name: str, value: str | float) -> str:
    """Encode a field of a query; a large matrix repeats the same thousands of times."""
    return urlencode({name: value})


class AnswerFilter(BaseModel):
    """Conditions on answers; an empty field sets none."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    q: str = Field("", max_length=MAX_CHARS)
    """Part of the question or the answer, in any case."""
    group: str = Field("", max_length=MAX_CHARS)
    """`dimension=group`; likewise for a stratum."""
    target: str = Field("", max_length=MAX_CHARS)
    scaffold: str = Field("", max_length=MAX_CHARS)
    set: str = Field("", max_length=MAX_CHARS)
    feature: str = Field("", max_length=MAX_CHARS)
    """`extractor.feature`, to which the bounds apply."""
    low: float | None = None
    high: float | None = None
    missing: str = Field("", max_length=MAX_CHARS)
    """Reason for a missing measurement or answer, or `any`."""
    after: str = Field("", max_length=64)
    """End of the previous page."""

    @field_validator("low", "high", mode="before")
    @classmethod
    def _empty_is_none(cls, value: object) -> object:
        return None if value == "" else value

    @property
    def extractor(self) -> str:
        """The extractor of the feature."""
        return self.feature.partition(".")[0]

    @property
    def number(self) -> str:
        """The name of the feature at its extractor."""
        return self.feature.partition(".")[2]

    @property
    def needs_measurements(self) -> bool:
        """True if the plan alone cannot decide."""
        return self.low is not None or self.high is not None or bool(self.missing)

    def query(self, **changes: str | float | None) -> str:
        """Return the filter as the query of an address, with some fields changed."""
        fields = {**self.model_dump(), **changes}
        return "&".join(starmap(_encoded, (f for f in fields.items() if f[1] not in ("", None))))

    def fits_groups(self, item: SuiteProbe | Probe) -> bool:
        """Return whether a probe is about the group or stratum, and of the set."""
        set_id = item.set if isinstance(item, SuiteProbe) else item.set_id
        groups = [*group_names(item.groups), *group_names(item.facts)] if self.group else []
        return (not self.group or self.group in groups) and (not self.set or set_id == self.set)

    def fits_probe(self, probe: Probe) -> bool:
        """Return whether a probe fits in everything known before its answer."""
        return (
            self.fits_groups(probe)
            and self.target in ("", probe.target.name)
            and self.scaffold in ("", probe.scaffold)
        )

    def fits_measurements(self, response: Response | None, measured: Sequence[Features]) -> bool:
        """Return whether the measurement is in the range, or missing for the reason."""
        chosen = [row for row in measured if not self.feature or row.extractor == self.extractor]
        if self.low is not None or self.high is not None:
            values = (row.values.get(self.number) for row in chosen)
            if not any(value is not None and self._in_range(value) for value in values):
                return False
        if not self.missing:
            return True
        reasons = {row.unscorable for row in chosen} - {None}
        if response is not None and any(self._is_undefined(row) for row in chosen):
            reasons.add(why_undefined(response.probe.scaffold))
        if response is not None and response.reason:
            reasons.add(response.reason)
        return bool(reasons) if self.missing == ANY_REASON else self.missing in reasons

    def fits_texts(self, response: Response | None) -> bool:
        """Return whether the question or the answer contains the words."""
        if not self.q:
            return True
        if response is None:
            return False
        messages = [message.content for message in response.probe.messages]
        texts = [*messages, *response.probe.variables.values(), response.text or ""]
        texts += response.said.values()
        for step in response.tool_steps:
            texts += [step.name, step.arguments, step.result]
        return any(self.q.casefold() in text.casefold() for text in texts)

    def _is_undefined(self, row: Features) -> bool:
        """Return whether the feature, or any if none is chosen, was measured without a value."""
        names = [self.number] if self.feature else row.values
        return any(row.values.get(name, 0.0) is None for name in names)

    def _in_range(self, value: float) -> bool:
        is_high_enough = self.low is None or value >= self.low
        return is_high_enough and (self.high is None or value <= self.high)


@dataclass(frozen=True)
class FilterChoices:
    """Options of the filter's form."""

    groups: tuple[str, ...]
    targets: tuple[str, ...]
    scaffolds: tuple[str, ...]
    features: tuple[str, ...]
    reasons: tuple[str, ...]


def group_names(groups: Mapping[str, str]) -> list[str]:
    """Return the groups of a question as filters name them."""
    return [group_name(dimension, group) for dimension, group in groups.items()]


def group_name(dimension: str, group: str) -> str:
    """Return a group as a filter names it."""
    return f"{dimension}={group}"
