"""A suite: what is asked, about whom, and how the answers are measured."""

from enum import StrEnum

from pydantic import Field, model_validator

from shared.contracts.identity import Name, Token, derived_id
from shared.contracts.probe import Message, Role
from shared.contracts.record import Part


class Claim(StrEnum):
    """What conclusions are about, and so what counts as a unit."""

    POPULATION = "population"
    """Prompts like these: the prompt, or the counterfactual set, is the unit."""
    BANK = "bank"
    """These very prompts: answers to them are the units."""


class SuiteProbe(Part):
    """One question of a suite, before it is put to anybody."""

    key: Name
    """Its name; no other probe of the suite has it."""
    prompt: str | None = None
    """What is said to the model, where it is one message."""
    messages: tuple[Message, ...] = ()
    """What is said to the model, where it is a conversation."""
    variables: dict[str, str] = {}
    """What a scaffold puts into its own wording."""
    groups: dict[str, str] = {}
    """Whom it is about, by dimension."""
    set: Name | None = None
    """The counterfactual set: its twins differ in the groups alone."""
    unit: Name | None = None
    """The unit of analysis; the probe itself, unless several share one."""
    baseline: str | None = None
    """The text an answer's measurement is compared with."""
    expected: str | None = None
    """The right answer, where there is one."""

    @model_validator(mode="after")
    def _says_something(self) -> "SuiteProbe":
        if bool(self.prompt) + bool(self.messages) + bool(self.variables) != 1:
            raise ValueError("a probe has either a prompt, or messages, or variables")
        return self

    @property
    def said(self) -> tuple[Message, ...]:
        """The messages, however they were written."""
        return (Message(role=Role.USER, content=self.prompt),) if self.prompt else self.messages


class Suite(Part):
    """A benchmark: its probes and how their answers are measured."""

    name: Token
    """The suite's name."""
    about: str = ""
    """What it asks and what can be concluded from it."""
    extractors: tuple[Token, ...] = Field(min_length=1)
    """What measures the answers."""
    features: tuple[str, ...] = ()
    """Which of the measured numbers are diagnosed; all of them, unless named."""
    claim: Claim = Claim.POPULATION
    """What conclusions are about; a study of a few documents can only speak of these."""
    selected_at_least: dict[str, float] = {}
    """From which value of a feature on an answer counts as a selection."""
    variables: dict[str, str] = {}
    """Given to every probe that has variables and does not set them itself: criteria, a scale."""
    probes: tuple[SuiteProbe, ...] = Field(min_length=1)
    """What is asked."""

    @model_validator(mode="after")
    def _keys_differ(self) -> "Suite":
        seen: set[str] = set()
        for probe in self.probes:
            if probe.key in seen:
                raise ValueError(f"two probes have the key {probe.key!r}")
            seen.add(probe.key)
        return self

    @property
    def hash(self) -> str:
        """Changes with everything in the suite."""
        without = set() if self.variables else {"variables"}  # suites from before it keep theirs
        return derived_id("suite", self.model_dump(mode="json", exclude=without))
