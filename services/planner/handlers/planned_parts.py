"""What a run waits for, read from the store a part at a time: questions, or a window's members."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from biaswatch.shared.contracts import (
    MonitoredWindow,
    Probe,
    Run,
    expected_of,
    member_features_id,
    response_id_of,
)
from biaswatch.shared.errors import PoisonError
from biaswatch.shared.store import PlannedProbes, Store

PART = 500
"""How many answers a part is about: they are in memory together."""
MOST_KNOWN = 16
"""Runs whose order of questions is kept at the same time."""


@dataclass(frozen=True)
class PlannedPart:
    """Some of what one lane of a run leads to."""

    expected: Mapping[str, str]
    """The features that are waited for, and the response of each."""
    probes: Mapping[str, Probe] = field(default_factory=dict)
    """The probes by their responses; a window of traffic has none: users asked."""
    reached: str | None = None
    """How far the list has been gone through with it; None at its end."""


class PlannedParts:
    """Reads the lists of runs; each has an order that never changes."""

    def __init__(self, store: Store, *, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now
        self._known: OrderedDict[str, PlannedProbes] = OrderedDict()

    def expected(self, run: Run) -> int:
        """Return how many features a run waits for; the members of a window are fixed by this."""
        if run.window is None:
            answers = self._probes(run).amount(len(run.targets))
        elif run.monitor_id is None:
            raise PoisonError(f"The run {run.id} reads no window of a monitor.")
        else:
            window = MonitoredWindow(run.id, run.monitor_id, run.window)
            answers = self._store.window_answers.fix(window, self._now())
        return answers * len(run.extractors)

    def every(self, run: Run) -> Iterator[PlannedPart]:
        """Return the parts of all lanes of a run."""
        for lane in lanes_of(run):
            reached: str | None = ""
            while reached is not None:
                part = self.read(run, lane, reached)
                yield part
                reached = part.reached

    def read(self, run: Run, lane: str, reached: str) -> PlannedPart:
        """Return the part of a lane after what was reached."""
        if run.window is not None:
            return self._members(run, reached)
        planned, first = self._probes(run), int(reached or 0)
        targets = [target for target in run.targets if target.lane == lane]
        probes = list(islice(planned.read(self._now(), first=first, targets=targets), PART))
        end = first + len(probes)
        return PlannedPart(
            expected={id_: response_id_of(each) for id_, each in expected_of(run, probes).items()},
            probes={response_id_of(probe): probe for probe in probes},
            reached=str(end) if end < planned.amount(len(targets)) else None,
        )

    def _members(self, run: Run, reached: str) -> PlannedPart:
        answers = self._store.window_answers.members_after(run.id, reached, PART)
        if answers is None:
            raise PoisonError(f"The list of the members of the window {run.id} was never fixed.")
        return PlannedPart(
            expected={
                member_features_id(run, answer, pin): answer
                for answer in answers
                for pin in run.extractors
            },
            reached=answers[-1] if len(answers) == PART else None,
        )

    def _probes(self, run: Run) -> PlannedProbes:
        if (planned := self._known.get(run.id)) is None:
            outline = self._store.suites.outline(run.suite_hash)
            if outline is None:
                raise PoisonError(
                    f"The suite {run.suite} ({run.suite_hash}) is not in the store. Upload it,"
                    " then start the run again."
                )
            planned = self._known[run.id] = PlannedProbes(self._store.suites, outline, run)
            if len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)
        return planned


def lanes_of(run: Run) -> Sequence[str]:
    """Return the lanes of a run, each once."""
    return list(dict.fromkeys(target.lane for target in run.targets))
