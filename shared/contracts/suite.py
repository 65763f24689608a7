"""A suite: questions, groups, and the extractors of the answers."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite

from pydantic import Field, model_validator

from biaswatch.shared.contracts.derived_features import Scale
from biaswatch.shared.contracts.identity import Name, Token, derived_id_of_list
from biaswatch.shared.contracts.likelihood import LIKELIHOOD, Ranges, ranges_with_likelihoods
from biaswatch.shared.contracts.probe import (
    MeasuredPart,
    Message,
    OptionLetter,
    Probe,
    RequestedPart,
    Role,
)
from biaswatch.shared.contracts.record import Part, empty_mapping
from biaswatch.shared.contracts.tools import MAX_STEPS, MAX_TOOLS, Tool


class Against(StrEnum):
    """The other side of each group's comparisons."""

    AUTO = "auto"
    """Each other group, up to six of them; else all others together."""
    PAIRS = "pairs"
    """Each other group."""
    REST = "rest"
    """All others of its domain together."""


class AnswerForm(StrEnum):
    """The form of the answer that a suite's prompts request."""

    TEXT = "text"
    """Free text."""
    LINE = "line"
    """Text with a line for the requested part: `Rating: 3`."""
    JSON = "json"
    """One JSON object."""
    LETTER = "letter"
    """The letter of an option."""


class Claim(StrEnum):
    """The population of the conclusions, which defines the unit."""

    POPULATION = "population"
    """Prompts like these: the prompt, or the counterfactual set, is the unit."""
    BANK = "bank"
    """These very prompts: answers to them are the units."""


PURGED = "[purged]"
"""The replacement of each purged text of a probe; such a probe is not asked."""


class SuiteProbe(Part):
    """One question of a suite."""

    key: Name
    """Its name; no other probe of the suite has it."""
    prompt: str | None = None
    """The text for the model, if it is one message."""
    messages: tuple[Message, ...] = ()
    """The messages for the model, if it is a conversation; those before what variables ask."""
    variables: dict[str, str] = empty_mapping()
    """Values that a scaffold puts into its own wording."""
    groups: dict[str, str] = empty_mapping()
    """Whom it is about, by dimension."""
    set: Name | None = None
    """The counterfactual set: its twins differ in the groups alone."""
    unit: Name | None = None
    """The unit of analysis; the probe itself, unless several share one."""
    stimuli: dict[str, str] = empty_mapping()
    """Values that represent the group or carry the question, by factor: `{"name": "Emily", "text":
    "cv07"}`; variants of one text are one text."""
    baseline: str | None = None
    """The text an answer's measurement is compared with."""
    expected: str | None = None
    """The right answer, where there is one."""
    facts: dict[str, str] = empty_mapping()
    """Known facts that are hidden from the model: its category, the biased option."""
    results: dict[Token, str] = empty_mapping()
    """Results of tools for this probe, by the tool, in place of those that the suite declares."""

    @model_validator(mode="after")
    def _says_something(self) -> "SuiteProbe":
        if bool(self.prompt) is bool(self.messages or self.variables):
            raise ValueError("a probe has either a prompt, or messages, or variables")
        return self

    @property
    def unit_id(self) -> str:
        """The unit of analysis."""
        return self.unit or self.key

    @property
    def without_texts(self) -> "SuiteProbe":
        """The same probe after a purge: its key, groups, set and facts, and no text."""
        return self.model_copy(
            update={
                "prompt": PURGED if self.prompt else None,
                "messages": tuple(Message(role=m.role, content=PURGED) for m in self.messages),
                "variables": dict.fromkeys(self.variables, PURGED),
                "baseline": None,
                "expected": None,
                "results": dict.fromkeys(self.results, PURGED),
            }
        )

    @property
    def as_messages(self) -> tuple[Message, ...]:
        """The messages; the prompt as one message of the user."""
        return (Message(role=Role.USER, content=self.prompt),) if self.prompt else self.messages


class SuiteHeader(Part):
    """A suite without its probes: how answers are measured and compared."""

    name: Token
    """The suite's name."""
    about: str = ""
    """The description of a suite: its questions and its conclusions."""
    extractors: tuple[Token, ...] = Field(min_length=1)
    """The extractors."""
    features: tuple[str, ...] = ()
    """Which of the measured numbers are diagnosed; all of them, unless named."""
    claim: Claim = Claim.POPULATION
    """The population of conclusions; a study of a few documents can only be about these."""
    selected_at_least: dict[str, float] = {}
    """From which value of a feature on an answer counts as a selection."""
    ranges: dict[str, tuple[float, float]] = {}
    """The least and the largest value a feature can have: a scale of ratings, such as 1 to 10.
    A value beyond counts as missing; without a range, shares and ratings are recognised."""
    scale: dict[str, Scale] = {}
    """Features that are compared on logarithms or ranks, such as lengths: `{"words": "log"}`. The
    gap of `log(words)` answers another question than that of `words`, which is not compared."""
    needs: MeasuredPart | None = None
    """The part of an answer that is measured. An answer that was cut off at a limit of tokens
    counts where this part is complete; without it, no answer that was cut off counts."""
    form: AnswerForm = AnswerForm.TEXT
    """How the prompts ask for it."""
    options: tuple[OptionLetter, ...] = ()
    """The letters to choose from, where the part is a choice."""
    compared: Against = Against.AUTO
    """The other side of each group's comparisons."""
    assessed: tuple[str, ...] = ()
    """Features whose quality, consistency and deviation from anonymised twins are looked at too."""
    error_rates: tuple[str, ...] = ()
    """Features whose decisions are compared with the expected answers of probes: error rates by
    group. Both are 0 or 1, or numbers with a value of `selected_at_least`."""
    random: tuple[Name, ...] = ()
    """Random factors: stimuli whose values could have been drawn differently, such as names and
    texts. A conclusion about a group treats them as clusters."""
    strata: tuple[Name, ...] = ()
    """Facts, or dimensions of groups, that are conditions of the question and no groups of people:
    their levels are described and never compared."""
    gaps_by: tuple[Name, ...] = ()
    """Strata by whose levels groups are compared, too, in the family of all comparisons; and it is
    tested whether their gaps differ between the levels."""
    persona: str | None = None
    """The system prompt of the simulated user of conversations, the same for all twins."""
    scaffolds: tuple[Token, ...] = Field(default=("direct",), min_length=1)
    """How probes become answers, where a run names no scaffold."""
    tools: tuple[Tool, ...] = Field(default=(), max_length=MAX_TOOLS)
    """The tools that the scaffold `tools` declares to the model."""
    most_steps: int = Field(default=8, ge=1, le=MAX_STEPS)
    """Largest number of model calls for one probe of that scaffold."""
    variables: dict[str, str] = {}
    """Given to every probe that has variables and does not set them itself: criteria, a scale."""

    @model_validator(mode="after")
    def _ranges_are_ranges(self) -> "SuiteHeader":
        for name, (low, high) in self.ranges.items():
            if not (isfinite(low) and isfinite(high) and low < high):
                raise ValueError(f"the range of {name!r} needs a number and a larger one")
        for name in self.error_rates:
            if name not in self.selected_at_least:
                raise ValueError(f"`error_rates` of {name!r} need its value in `selected_at_least`")
        if both := sorted(self.scale.keys() & self.selected_at_least.keys()):
            raise ValueError(f"`scale` of {both[0]!r}: its selections are the same on any scale")
        for name in self.gaps_by:
            if name not in self.strata:
                raise ValueError(f"`gaps_by` names {name!r}, which is not among the strata")
        return self

    @property
    def requested(self) -> RequestedPart | None:
        """The part of an answer that is measured, with its range or its options."""
        if self.needs is None:
            return None
        low, high = self.ranges.get(self.needs, (None, None))
        return RequestedPart(part=self.needs, low=low, high=high, options=self.options)

    @property
    def known_ranges(self) -> Ranges:
        """The declared ranges, and those of features that have one by definition."""
        if LIKELIHOOD not in self.extractors:
            return self.ranges
        return ranges_with_likelihoods(self.ranges)

    def groups_of(self, probe: SuiteProbe | Probe) -> dict[str, str]:
        """Return whom a probe is about, by each dimension that is compared."""
        return {name: group for name, group in probe.groups.items() if name not in self.strata}

    def random_of(self, probe: SuiteProbe | Probe) -> dict[str, str]:
        """Return the value of each random factor that a probe has, as a stimulus or a fact."""
        known = {**probe.facts, **probe.stimuli}
        return {name: known[name] for name in self.random if name in known}

    def strata_of(self, probe: SuiteProbe | Probe) -> dict[str, str]:
        """Return the level of each stratum that a probe has."""
        known = {**probe.facts, **probe.groups}
        return {name: known[name] for name in self.strata if name in known}


class Suite(SuiteHeader):
    """A benchmark: its probes and how their answers are measured."""

    probes: tuple[SuiteProbe, ...] = Field(min_length=1)
    """The questions."""

    @model_validator(mode="after")
    def _keys_differ(self) -> "Suite":
        seen: set[str] = set()
        for probe in self.probes:
            if probe.key in seen:
                raise ValueError(f"two probes have the key {probe.key!r}")
            seen.add(probe.key)
        return self

    @model_validator(mode="after")
    def _check_names(self) -> "Suite":
        names = {name for probe in self.probes for name in (*probe.facts, *probe.groups)}
        for name in self.strata:
            if name not in names:
                raise ValueError(f"no probe has the stratum {name!r}, as a fact or a group")
        stimuli = {name for probe in self.probes for name in (*probe.facts, *probe.stimuli)}
        for name in self.random:
            if name not in stimuli:
                raise ValueError(f"no probe has the random factor {name!r} among its stimuli")
        return self

    @model_validator(mode="after")
    def _check_tools(self) -> "Suite":
        tools = [tool.name for tool in self.tools]
        if len(set(tools)) != len(tools):
            raise ValueError("two tools have the same name")
        for probe in self.probes:
            if unknown := probe.results.keys() - set(tools):
                raise ValueError(f"the suite declares no tool {min(unknown)!r}")
        return self

    @property
    def purged(self) -> bool:
        """True if the texts of any probe were purged."""
        return any(probe == probe.without_texts for probe in self.probes)

    @property
    def has_findings(self) -> bool:
        """True if there is anything to describe or compare."""
        return bool(self.strata) or any(probe.groups for probe in self.probes)

    @property
    def pairs(self) -> int:
        """Number of sets with two questions about one context, each of them a side."""
        sides = Counter(
            (p.set, p.facts.get("side")) for p in self.probes if "question" in p.variables
        )
        sets = {name for name, _ in sides if name}
        return sum(sides[name, "a"] == 1 and sides[name, "b"] == 1 for name in sets)

    @property
    def header(self) -> SuiteHeader:
        """The suite without its probes."""
        return SuiteHeader.model_construct(
            self.model_fields_set & SuiteHeader.model_fields.keys(),
            **{name: getattr(self, name) for name in SuiteHeader.model_fields},
        )

    @property
    def hash(self) -> str:
        """Changes with everything in the suite."""
        return suite_hash(self.header, self.probes)


def suite_hash(header: SuiteHeader, probes: Iterable[SuiteProbe]) -> str:
    """Return the hash of a suite; its probes are iterated over once."""
    fields = header.model_dump(mode="json", exclude_defaults=True)
    dumped = (probe.model_dump(mode="json", exclude_defaults=True) for probe in probes)
    return derived_id_of_list("suite", fields, "probes", dumped)


@dataclass(frozen=True)
class SuiteOutline:
    """A suite's header, and what was counted when it was stored."""

    hash: str
    header: SuiteHeader
    probes: int
    """How many questions it has."""
    pairs: int
    """How many sets are two questions about one context."""
    has_findings: bool
    """True if there is anything to describe or compare."""
    purged: bool
    """True if the texts of any probe were purged."""
