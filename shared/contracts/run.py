"""A finite plan: one suite, some targets, some repeats."""

from typing import Literal

from pydantic import PositiveFloat, PositiveInt

from biaswatch.shared.contracts.identity import Name, RecordId, Token
from biaswatch.shared.contracts.record import Part, Record
from biaswatch.shared.contracts.target import Target
from biaswatch.shared.contracts.traffic import Window
from biaswatch.shared.lookup import first


class Budget(Part):
    """The budget of a run; null means no limit. Not part of the run's id: it may be raised."""

    tokens: PositiveInt | None = None
    """The most tokens, read and written together."""
    cost: PositiveFloat | None = None
    """The most money, in the currency of the operator's price table."""

    @property
    def is_unlimited(self) -> bool:
        """True if nothing limits the run."""
        return self.tokens is None and self.cost is None


class ExtractorPin(Part):
    """An extractor at the version the run began with; versions are never mixed in a run."""

    name: Token
    """The extractor's name."""
    version: Name
    """Its version."""


class Judging(Part):
    """That the oracle is to question the reasoning of the run's pairs, and who judges."""

    judges: tuple[Target, ...] = ()
    """The judges; without any, each target judges itself, as the original study does."""
    seed: int = 0
    """The seed of distractors and their order."""
    controls: bool = True
    """True if each judge also gets questions with a known answer."""
    controls_per_kind: PositiveInt = 40
    """How many of each kind and direction."""
    jury: Literal["majority", "weighted"] = "majority"
    """How several judges decide: by majority, or weighted by their accuracy on controls."""


class Run(Record):
    """A plan: a suite, targets, repeats and extractors."""

    kind = "run"
    identity = ("suite_hash", "plan_hash", "scaffolds", "repeats", "monitor_id", "turn", "nonce")

    suite: Name
    """The suite's name; that of the live system for a window of traffic."""
    suite_hash: RecordId | None = None
    """The hash of everything in the suite; an edited suite is another run. None for a window."""
    targets: tuple[Target, ...]
    """The models under test."""
    scaffolds: tuple[Token, ...] = ("direct",)
    """How each probe becomes an answer; every scaffold asks every probe."""
    repeats: PositiveInt = 1
    """Number of repeats of each probe; repeats of a prompt are one unit."""
    extractors: tuple[ExtractorPin, ...] = ()
    """The extractors."""
    monitor_id: RecordId | None = None
    """The monitor whose round this is, if it is one."""
    round: int | None = None
    """Which round of the monitor."""
    window: Window | None = None
    """The window of production traffic that the round reads, instead of asking anything."""
    before: RecordId | None = None
    """The run of the round before."""
    sets: PositiveInt | None = None
    """How many sets a round draws, each set at most once over all rounds; all of them if null."""
    deadline_s: PositiveFloat | None = None
    """How long it waits for what it expects; as long as the planner is set to, unless given."""
    nonce: str = ""
    """Anything: the same plan with another nonce is started afresh."""
    judging: Judging | None = None
    """Who judges its pairs of answers; none, and no pair is judged."""
    user: Target | None = None
    """The model of the simulated user in conversations; null, and each target plays its own."""
    ids_in_order: bool = False
    """True if the ids of its probes, responses and features begin with the run and the position of
    the question. Not part of the run's id: a run that is there keeps the ids it began with."""
    budget: Budget = Budget()
    """The budget after which it stops; it resumes with a larger one."""

    @property
    def run(self) -> str:
        """A run belongs to itself."""
        return self.id

    @property
    def turn(self) -> str | int | None:
        """The part that distinguishes a monitor's runs: the round, or the start of the window."""
        return self.round if self.window is None else self.window.begins.isoformat()

    def version_of(self, extractor: str) -> str:
        """Return the version of an extractor that the run names.

        Raises
        ------
        LookupError
            It names no such extractor.
        """
        versions = (pin.version for pin in self.extractors if pin.name == extractor)
        return first(versions, f"The run {self.id} does not name the extractor {extractor}.")

    @property
    def plan_hash(self) -> list[str]:
        """The part of the id from targets, extractors and judges, in any order of them.

        The extractors of a window are left out: its answers arrive before their versions are known.
        """
        if self.window is not None:
            return sorted(target.lane for target in self.targets)
        pins = [f"{pin.name}@{pin.version}" for pin in self.extractors]
        judged = self.judging
        judges = (
            ["judging", str(judged.seed), *sorted(j.lane for j in judged.judges)] if judged else []
        )
        if judged and not judged.controls:
            judges.append("without controls")
        if judged and judged.jury != "majority":
            judges.append(judged.jury)
        if self.user is not None:
            judges += ["user", self.user.lane]
        return sorted(target.lane for target in self.targets) + sorted(pins) + judges
