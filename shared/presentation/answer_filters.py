"""Which answers of a run a page shows: a filter read from an address, and written into it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import starmap
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field, field_validator

from biaswatch.shared.contracts import Features, Probe, Response, SuiteProbe

ANY_REASON = "any"
MOST_CHARACTERS = 1100
"""A dimension and a group, each as long as it may be."""


@lru_cache(maxsize=10_000)
def _as_sent(name: str, value: str | float) -> str:
    """Return a field of a query; those of a large matrix are thousands of times the same."""
    return urlencode({name: value})


class AnswerFilter(BaseModel):
    """What is wanted; an empty field wants nothing in particular."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    q: str = Field("", max_length=MOST_CHARACTERS)
    """A part of the question or of the answer, in any case."""
    group: str = Field("", max_length=MOST_CHARACTERS)
    """`dimension=group`; a stratum is named likewise."""
    target: str = Field("", max_length=MOST_CHARACTERS)
    scaffold: str = Field("", max_length=MOST_CHARACTERS)
    set: str = Field("", max_length=MOST_CHARACTERS)
    feature: str = Field("", max_length=MOST_CHARACTERS)
    """`extractor.feature`; the bounds are about it."""
    low: float | None = None
    high: float | None = None
    missing: str = Field("", max_length=MOST_CHARACTERS)
    """Why a measurement or an answer is missing; `any` for whatever reason."""
    after: str = Field("", max_length=64)
    """Where the page before ended."""

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
        """The feature's name at its extractor."""
        return self.feature.partition(".")[2]

    @property
    def needs_measurements(self) -> bool:
        """Whether the plan alone does not tell what fits."""
        return self.low is not None or self.high is not None or bool(self.missing)

    def query(self, **changes: str | float | None) -> str:
        """Return the filter as the query of an address, with some fields changed."""
        fields = {**self.model_dump(), **changes}
        given = (item for item in fields.items() if item[1] not in ("", None))
        return "&".join(starmap(_as_sent, given))

    def fits_groups(self, item: SuiteProbe | Probe) -> bool:
        """Tell whether a question is about the wanted group or stratum, and of the wanted set."""
        of_set = item.set if isinstance(item, SuiteProbe) else item.set_id
        known = [*group_names(item.groups), *group_names(item.facts)] if self.group else []
        return (not self.group or self.group in known) and (not self.set or of_set == self.set)

    def fits_probe(self, probe: Probe) -> bool:
        """Tell whether a probe fits in all that is known before it is answered."""
        return (
            self.fits_groups(probe)
            and self.target in ("", probe.target.name)
            and self.scaffold in ("", probe.scaffold)
        )

    def fits_measurements(self, response: Response | None, measured: Sequence[Features]) -> bool:
        """Tell whether what was measured lies in the range, or is missing as it is wanted."""
        if (self.low is not None or self.high is not None) and not self._in_range(measured):
            return False
        return not self.missing or self._is_missing(response, measured)

    def fits_texts(self, response: Response | None) -> bool:
        """Tell whether the question or the answer has the wanted words."""
        if not self.q:
            return True
        if response is None:
            return False
        said = [message.content for message in response.probe.messages]
        texts = [*said, *response.probe.variables.values(), response.text or ""]
        return any(self.q.casefold() in text.casefold() for text in texts)

    def _in_range(self, measured: Sequence[Features]) -> bool:
        values = [each.values.get(self.number) for each in self._chosen(measured)]
        return any(
            value is not None
            and (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
            for value in values
        )

    def _is_missing(self, response: Response | None, measured: Sequence[Features]) -> bool:
        reasons = {each.unscorable for each in self._chosen(measured)} - {None}
        if response is not None and response.reason:
            reasons.add(response.reason)
        return bool(reasons) if self.missing == ANY_REASON else self.missing in reasons

    def _chosen(self, measured: Sequence[Features]) -> list[Features]:
        return [each for each in measured if not self.feature or each.extractor == self.extractor]


@dataclass(frozen=True)
class FilterChoices:
    """What the fields of the filter can be, for its form."""

    groups: tuple[str, ...]
    targets: tuple[str, ...]
    scaffolds: tuple[str, ...]
    features: tuple[str, ...]
    reasons: tuple[str, ...]


def group_names(groups: Mapping[str, str]) -> list[str]:
    """Return the groups of a question as a filter names them."""
    return [group_name(dimension, group) for dimension, group in groups.items()]


def group_name(dimension: str, group: str) -> str:
    """Return a group as a filter names it."""
    return f"{dimension}={group}"
