"""Rounds of a monitor whose instrument errs for one group, labelled by somebody who knows."""

from datetime import datetime, timedelta
from random import Random

from biaswatch.services.diagnoser.handlers import CloseRounds
from biaswatch.services.diagnoser.handlers.labels import CorrectByLabels
from biaswatch.services.gateway.labels.commands import LabelCommands
from biaswatch.services.gateway.labels.queries import LabelQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.analysis.findings import AnalysisPlan
from biaswatch.shared.contracts import (
    Alarm,
    AlarmKind,
    Label,
    Probe,
    Record,
    Run,
    Suite,
    SuiteProbe,
    Upkeep,
    WatchedFeature,
    WatchedPair,
    probes_of,
    response_id_of,
)
from biaswatch.shared.contracts.response import ExtractorStatus
from biaswatch.shared.requests.labels import GivenLabel, LabelsRequest, SampleRequest
from biaswatch.shared.store import Store
from tests.support.monitored import Values, play
from tests.support.records import AT, make_monitor, make_plan

GROUPS = ("asian", "white")
SUITE = Suite(
    name="letters",
    extractors=("judge",),
    features=("rude",),
    probes=tuple(
        SuiteProbe(key=f"{group}{n}", prompt=f"Letter {n}", set=f"s{n}", groups={"race": group})
        for n in range(100)
        for group in GROUPS
    ),
)
FEATURE = WatchedFeature(extractor="judge", feature="rude", higher_is="worse")
PAIR = WatchedPair(dimension="race", a="white", b="asian")
"""Not in the order of their names: a monitor decides what is less what."""
MONITOR = make_monitor(
    name="letters",
    plan=make_plan(suite=SUITE.name, suite_hash=SUITE.hash, features=(FEATURE,),
                   comparisons=(PAIR,)),
    upkeep=Upkeep(cadence_s=3600, webhook="https://alarms.example/here"),
)  # fmt: skip


class LabelledPlatform:
    """Gateway and diagnoser on one store, without a bus."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.time = AT
        store.suites.keep(SUITE, AT)
        store.extractors.announce(ExtractorStatus("judge", "1", ("rude",), AT))
        store.records.write([MONITOR])
        store.schedule.put(MONITOR)
        self.runs = RunQueries(store)
        self.commands = LabelCommands(
            store, self.runs, LabelQueries(store, self.runs), lambda: self.time
        )
        self.close = CloseRounds(store, now=lambda: self.time)

    def truth_of(self, gap: float) -> Values:
        """Return what is true of an answer: rude in .2, to white names more often by the gap."""

        def values(probe: Probe, round_: int) -> dict[str, float | None]:
            rate = 0.2 + gap * (probe.groups["race"] == "white")
            return {"rude": float(Random(f"{probe.key}/{round_}").random() < rate)}

        return values

    def reading_of(self, gap: float, wrong: float = 0.3) -> Values:
        """Return what the instrument reads: rudeness to Asian names that is not there, too."""
        truth = self.truth_of(gap)

        def values(probe: Probe, round_: int) -> dict[str, float | None] | None:
            result = truth(probe, round_)
            slip = Random(f"slip {probe.key}/{round_}").random() < wrong
            if result and probe.groups["race"] == "asian" and slip:
                return {"rude": 1.0}
            return result

        return values

    def round(self, number: int, gap: float, model: str = "m-1") -> Run:
        """Ask, read and close one round."""
        self.time = AT + timedelta(hours=number)
        return play(self.store, self.close, MONITOR, number, self.reading_of(gap), model)

    def labels(self, run: Run, gap: float, wanted: int = 80) -> list[Label]:
        """Draw answers of a round, and store what somebody says who knows the truth."""
        request = SampleRequest(feature="rude", group="race", wanted=wanted)
        sample = self.commands.sample_for(run.id, request)
        self.commands.store_records([sample])
        truth = self._truths(run, gap)
        given = [
            GivenLabel(response_id=item.response_id, value=truth[item.response_id])
            for item in sample.drawn
        ]
        asked = LabelsRequest(extractor="judge", feature="rude", labels=given)
        new = self.commands.check_labels(run.id, asked, "anna").new
        self.commands.store_records(new)
        return new

    def diagnoser(self, at: datetime | None = None) -> CorrectByLabels:
        """Return a diagnoser that has just begun."""
        return CorrectByLabels(self.store, now=lambda: at or self.time, plan=AnalysisPlan())

    def label_round(self, number: int, gap: float, model: str = "m-1") -> list[Record]:
        """Ask a round, have it labelled, and return what the diagnoser makes of the labels."""
        run = self.round(number, gap, model)
        return list(self.diagnoser()(self.labels(run, gap)))

    @property
    def alarms(self) -> list[Alarm]:
        """The alarms by labels, in the order in which they were made."""
        alarms = self.store.records.of_monitor(Alarm, MONITOR.monitor_id)
        labelled = [item for item in alarms if item.what is AlarmKind.LABELLED]
        return sorted(labelled, key=lambda alarm: (alarm.at, alarm.state != "raised"))

    def _truths(self, run: Run, gap: float) -> dict[str, float]:
        values = self.truth_of(gap)
        return {
            response_id_of(probe): float((values(probe, run.round or 0) or {})["rude"] or 0)
            for probe in probes_of(run, SUITE, run.at)
        }
