"""Reads a window of production traffic from the store, and lets each user enter once."""

from collections.abc import Mapping

from services.diagnoser.domain.monitors.evidence import CARRIED
from services.diagnoser.domain.monitors.round_answers import RoundData
from services.diagnoser.domain.monitors.traffic import (
    Entrants,
    TrafficAnswer,
    count_window,
    groups_by_user,
    window_descriptions,
)
from shared.contracts import Description, Features, Monitor, Response, Round, Run
from shared.errors import PoisonError
from shared.store import Store


class TrafficWindows:
    """Reads what was said in a window and measured by the versions that its run pins.

    What was not measured when the window closed is left out: that an extractor was down says
    nothing about anybody. Answers that an extractor could not read are measured, and missing.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, run: Run, monitor: Monitor, closed: Round) -> RoundData:
        """Return what a closed window adds.

        Who reads it again, after a death, finds the same users new.
        """
        said = list(self._store.records.read(Response, run_id=run.id, texts=False))
        heard = self._heard(run, said)
        entrants = {
            dimension: self._entrants(closed, dimension, heard)
            for dimension in sorted({pair.dimension for pair in monitor.plan.comparisons})
        }
        observed = {
            each.key: count_window(each, heard, entrants[each.pair.dimension])
            for each in monitor.plan.watched
        }
        return RoundData(
            counted={key: each.counted for key, each in observed.items()},
            outside={key: each.outside for key, each in observed.items()},
            described=(_description(run, monitor, closed, said, heard, entrants),),
        )

    def _entrants(self, closed: Round, dimension: str, heard: list[TrafficAnswer]) -> Entrants:
        users = groups_by_user(heard, dimension)
        new = self._store.enrolled_units.enroll(
            closed.monitor_id, closed.epoch, dimension, users, closed.round
        )
        mixed = {user for user, groups in users.items() if len(groups) > 1}
        return Entrants(new=new, known=users.keys() - new, mixed=mixed)

    def _heard(self, run: Run, said: list[Response]) -> list[TrafficAnswer]:
        pins = {(pin.name, pin.version) for pin in run.extractors}
        responses = {response.id: response for response in said}
        return [
            _heard(responses[each.response_id], each)
            for each in self._store.records.read(Features, run_id=run.id)
            if (each.extractor, each.extractor_version) in pins and each.response_id in responses
        ]


def _heard(response: Response, features: Features) -> TrafficAnswer:
    probe = response.probe
    return TrafficAnswer(
        key=probe.key,
        user=probe.set_id,
        groups=probe.groups,
        extractor=features.extractor,
        values=None if features.unscorable else features.values,
        unscorable=features.unscorable,
    )


def _description(
    run: Run,
    monitor: Monitor,
    closed: Round,
    said: list[Response],
    heard: list[TrafficAnswer],
    entrants: Mapping[str, Entrants],
) -> Description:
    if run.window is None:
        raise PoisonError(f"The run {run.id} has no window to describe.")
    return Description(
        **closed.model_dump(include=CARRIED - {"epoch"}),
        monitor=monitor.name,
        window=run.window,
        answers=len(said),
        without_unit=sum(response.probe.set_id is None for response in said),
        known_units={name: len(each.known) for name, each in entrants.items()},
        mixed_units={name: len(each.mixed) for name, each in entrants.items()},
        described=window_descriptions(monitor.plan, heard),
    )
