"""The probes of a run, read from its stored suite a few at a time."""

from array import array
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice, product

from shared.contracts import Probe, Run, SuiteOutline, SuiteProbe, Target, drawn_sets, probe_of
from shared.store.engine import MOST_PARAMETERS
from shared.store.suites import Suites


class PlannedProbes:
    """What a run asks, in the order of `probes_of`, without the suite in memory."""

    def __init__(self, suites: Suites, outline: SuiteOutline, run: Run) -> None:
        self._suites = suites
        self._outline = outline
        self._run = run
        self._asked: Sequence[int] = _asked(suites, outline, run)
        self._few: list[SuiteProbe] | None = None

    @property
    def questions(self) -> int:
        """Return how many questions the run asks, each counted once."""
        return len(self._asked)

    def amount(self, targets: int) -> int:
        """Return how many probes so many targets of the run are asked."""
        return self.questions * targets * len(self._run.scaffolds) * self._run.repeats

    def read(
        self, at: datetime, *, first: int = 0, targets: Sequence[Target] | None = None
    ) -> Iterator[Probe]:
        """Return the probes of all or some targets, from the `first` on, counted from 0."""
        run = self._run
        parts = product(range(run.repeats), targets or run.targets, run.scaffolds)
        skipped, offset = divmod(first, max(1, len(self._asked)))
        for repeat, target, scaffold in islice(parts, skipped, None):
            for item in self.items(offset):
                yield probe_of(run, self._outline.header, item, target, scaffold, repeat, at)
            offset = 0

    def items(self, first: int = 0) -> Iterator[SuiteProbe]:
        """Return what is asked from a position of it on; a small suite is read once."""
        if len(self._asked) <= MOST_PARAMETERS:
            if self._few is None:
                self._few = self._suites.probes(self._outline.hash, self._asked)
            yield from self._few[first:]
            return
        for start in range(first, len(self._asked), MOST_PARAMETERS):
            some = self._asked[start : start + MOST_PARAMETERS]
            yield from self._suites.probes(self._outline.hash, some)


def _asked(suites: Suites, outline: SuiteOutline, run: Run) -> Sequence[int]:
    """Return the positions of what a run asks: all, or the sets that fall to this round."""
    if run.sets is None:
        return range(outline.probes)
    drawn = drawn_sets(run, (name for _, name in suites.sets(outline.hash)))
    return array("q", (n for n, name in suites.sets(outline.hash) if name in drawn))
