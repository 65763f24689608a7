"""Reads a window of production traffic from the store, and lets each user enter once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from services.diagnoser.domain.monitors.evidence import CARRIED, models_of
from services.diagnoser.domain.monitors.methods.matched import user_counts_of
from services.diagnoser.domain.monitors.round_answers import RoundCounts, RoundData
from services.diagnoser.domain.monitors.traffic import (
    Entrants,
    Member,
    TrafficAnswer,
    accounts_of,
    groups_by_user,
    window_descriptions,
)
from services.diagnoser.domain.monitors.traffic_matching import CountedUsers, count_users
from services.diagnoser.domain.monitors.traffic_strata import most_strata, strata_of_window
from services.diagnoser.domain.shared_values import SharedValues
from shared.contracts import (
    RUN_GATHER,
    Completion,
    Description,
    Ending,
    Features,
    Monitor,
    Response,
    Round,
    Run,
    StratumUsers,
    Traffic,
)
from shared.errors import PoisonError, TransientError
from shared.store import Store
from shared.telemetry import log

SOON_S = 0.2
AT_ONCE = 500
"""Records that are in memory beside what is kept of a window."""
LOST_AFTER = timedelta(minutes=10)
"""How long a closed window waits for what the recorder has not written; then it is lost."""


@dataclass(frozen=True)
class ReadWindow:
    """The members of a window, and what was measured of them in time."""

    size: int
    """How many answers are on the list of members."""
    members: Mapping[str, Member]
    """Those that the store has, by the ids of their responses."""
    heard: Sequence[TrafficAnswer]
    models: tuple[str, ...]
    """What answered, by the names and fingerprints it gave."""


class TrafficWindows:
    """Reads the members of a window, as they were measured by the versions that its run pins.

    The list of members was fixed when the window was expanded, and what was measured when it was
    closed: whoever reads it, and however late, reads the same. What was not measured is left out
    of the evidence: that an extractor was down says nothing about anybody. Answers that an
    extractor could not read are measured, and missing.
    """

    def __init__(self, store: Store, *, now: Callable[[], datetime]) -> None:
        self._store = store
        self._measured = store.gathers(RUN_GATHER)
        self._now = now

    def read(self, run: Run, completion: Completion) -> ReadWindow:
        """Return the members of a closed window.

        Raises
        ------
        TransientError
            Not everything that the window closed with is in the store yet.
        """
        listed = self._store.window_answers.members(run.id)
        if listed is None:
            raise PoisonError(f"The list of the members of the window {run.id} was never fixed.")
        shared = SharedValues()
        size, members, reported = 0, dict[str, Member](), set()
        while some := list(islice(listed, AT_ONCE)):
            size += len(some)
            for response in self._store.records.get(Response, some, texts=False):
                members[response.id] = _member(response, shared)
                reported.add((response.model, response.fingerprint))
        heard, lacking = self._heard(run, members, shared)
        self._wait_for(lacking + size - len(members), run, completion)
        return ReadWindow(size, members, heard, models_of(reported))

    def count(self, read: ReadWindow, run: Run, monitor: Monitor, closed: Round) -> RoundData:
        """Return what a closed window adds.

        Who counts it again, after a death, finds the same users new.
        """
        entrants = {
            dimension: self._entrants(closed, dimension, read.heard)
            for dimension in sorted({pair.dimension for pair in monitor.plan.comparisons})
        }
        traffic = monitor.plan.traffic
        if traffic is None:
            raise PoisonError(f"The monitor {monitor.name} watches no traffic, but has a window.")
        users = {
            each.key: count_users(each, read.heard, entrants[each.pair.dimension], traffic)
            for each in monitor.plan.watched
        }
        observed = {key: each.counted for key, each in users.items()}
        strata = _strata(monitor, traffic, users)
        return RoundData(
            counted=observed,
            sets={key: each.heaviest for key, each in users.items()},
            described=(_description(run, monitor, closed, read, entrants, observed, strata),),
        )

    def _heard(
        self, run: Run, members: Mapping[str, Member], shared: SharedValues
    ) -> tuple[list[TrafficAnswer], int]:
        """Return what was measured when the window closed, and how much of it is not stored."""
        closed = self._measured.look(run.id)
        lacking = closed.arrived if closed else 0
        stored = self._store.records.read(Features, run_id=run.id)
        heard: list[TrafficAnswer] = []
        while some := list(islice(stored, AT_ONCE)):
            in_time = self._measured.arrived(run.id, (each.id for each in some), in_time=True)
            lacking -= len(in_time)
            heard += (
                _heard(members[features.response_id], features, shared)
                for features in some
                if features.id in in_time and features.response_id in members
            )
        return heard, lacking

    def _wait_for(self, lacking: int, run: Run, completion: Completion) -> None:
        if lacking and self._now() < completion.at + LOST_AFTER:
            raise TransientError(
                f"{lacking} records of the window {run.id} are not in the store yet.",
                retry_after_s=SOON_S,
            )
        if lacking:
            log("diagnoser").error("a window lacks records that are lost", run=run.id, lost=lacking)

    def _entrants(self, closed: Round, dimension: str, heard: Sequence[TrafficAnswer]) -> Entrants:
        users = groups_by_user(heard, dimension)
        new = self._store.enrolled_units.enroll(
            closed.monitor_id, closed.epoch, dimension, users, closed.round
        )
        mixed = {user for user, groups in users.items() if len(groups) > 1}
        return Entrants(new=new, known=users.keys() - new, mixed=mixed)


def _member(response: Response, shared: SharedValues) -> Member:
    probe = response.probe
    return Member(
        key=probe.key,
        user=probe.set_id,
        groups=shared.words(probe.groups),
        said_at=probe.at,
        has_text=response.ending is Ending.ANSWERED,
        facts=shared.words(probe.facts),
        response_id=response.id,
    )


def _heard(member: Member, features: Features, shared: SharedValues) -> TrafficAnswer:
    return TrafficAnswer(
        key=member.key,
        user=member.user,
        groups=member.groups,
        extractor=features.extractor,
        values=None if features.unscorable else shared.numbers(features.values),
        unscorable=features.unscorable,
        said_at=member.said_at,
        facts=member.facts,
        response_id=member.response_id,
    )


def _strata(
    monitor: Monitor, traffic: Traffic, users: Mapping[str, CountedUsers]
) -> dict[str, tuple[StratumUsers, ...]]:
    """Return the users of each stratum by comparison; nothing where no strata are declared."""
    if not traffic.strata:
        return {}
    most = most_strata(len(users))
    return {
        each.key: strata_of_window(each, counted.matchable, counted.matches, most)
        for each in monitor.plan.watched
        for counted in [users[each.key]]
    }


def _description(
    run: Run,
    monitor: Monitor,
    closed: Round,
    read: ReadWindow,
    entrants: Mapping[str, Entrants],
    observed: Mapping[str, RoundCounts],
    strata: Mapping[str, tuple[StratumUsers, ...]],
) -> Description:
    if run.window is None:
        raise PoisonError(f"The run {run.id} has no window to describe.")
    members = read.members.values()
    measured = {each.key for each in read.heard}
    used = frozenset().union(*(each.used for each in observed.values()))
    accounts = accounts_of(members, monitor.plan.comparisons, measured, used)
    lost = read.size - len(members)
    users = {key: user_counts_of(each.counts) for key, each in observed.items()}
    return Description(
        **closed.model_dump(include=CARRIED - {"epoch"}),
        monitor=monitor.name,
        window=run.window,
        answers=read.size,
        accounts=accounts.model_copy(update={"unmeasured": accounts.unmeasured + lost}),
        without_unit=sum(each.user is None for each in members),
        known_units={name: len(each.known) for name, each in entrants.items()},
        mixed_units={name: len(each.mixed) for name, each in entrants.items()},
        described=window_descriptions(monitor.plan, read.heard, users, strata),
    )
