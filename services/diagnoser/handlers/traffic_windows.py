"""Windows of production traffic: read from the store, with each user counted once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

import numpy as np

from biaswatch.shared.analysis.monitors.evidence import models_of
from biaswatch.shared.analysis.monitors.methods.matched import user_counts_of
from biaswatch.shared.analysis.monitors.round_answers import RoundData
from biaswatch.shared.analysis.monitors.shared_facts import SharedFacts
from biaswatch.shared.analysis.monitors.traffic import (
    Entrants,
    accounts_of,
    users_in_groups,
    window_descriptions,
)
from biaswatch.shared.analysis.monitors.traffic_matching import CountedUsers, count_users
from biaswatch.shared.analysis.monitors.traffic_users import most_strata
from biaswatch.shared.analysis.monitors.window_columns import OpenFile, WindowColumns
from biaswatch.shared.analysis.monitors.window_writing import (
    MemberReading,
    WindowAnswer,
    WindowWriter,
)
from biaswatch.shared.contracts import (
    RUN_GATHER,
    Completion,
    Description,
    Ending,
    Features,
    Monitor,
    Round,
    Run,
    member_features_id,
)
from biaswatch.shared.contracts.round_evidence import HEADER
from biaswatch.shared.errors import PoisonError, TransientError
from biaswatch.shared.runtime.passes import ArrivalForecast
from biaswatch.shared.stats.arrays import Bools
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import log

AT_ONCE = 500
"""Records in memory while a window is read."""
USERS_PER_CHUNK = 5000
"""Users that are enrolled in one transaction."""
LOST_AFTER = timedelta(minutes=10)
"""How long a closed window waits for unwritten records before they count as lost."""


@dataclass(frozen=True)
class ReadWindow:
    """The members of a window with the measurements that arrived in time."""

    size: int
    """The number of members."""
    columns: WindowColumns
    """The stored responses."""
    models: tuple[str, ...]
    """The names and fingerprints that models reported."""
    shared_facts: Mapping[str, int]
    """Undeclared facts that several users share, each with its number of values."""


class TrafficWindows:
    """Reads the members of a window, measured by the extractor versions of its run.

    The members were fixed when the window was expanded, and the measurements when it closed, so
    every read gives the same result. Unmeasured answers are left out, because the outage of an
    extractor is no evidence about groups. An answer without a value counts as missing.
    """

    def __init__(self, store: Store, *, now: Callable[[], datetime]) -> None:
        self._store = store
        self._measured = store.gathers(RUN_GATHER)
        self._now = now
        self._forecast = ArrivalForecast(now)

    def read(
        self, run: Run, monitor: Monitor, completion: Completion, open_file: OpenFile
    ) -> ReadWindow:
        """Return the members of a closed window, in the opened files.

        Raises
        ------
        TransientError
            Some records of the window are not in the store yet.
        """
        listed = self._store.window_answers.members(run.id)
        if listed is None:
            raise PoisonError(f"The list of the members of the window {run.id} was never fixed.")
        closed = self._measured.state(run.id)
        lacking, size, reported = closed.arrived if closed else 0, 0, set()
        writer = WindowWriter(monitor.plan, open_file, (pin.name for pin in run.extractors))
        shared = SharedFacts(monitor.plan.traffic.matched_within if monitor.plan.traffic else ())
        while batch := list(islice(listed, AT_ONCE)):
            responses = self._store.records.bodies_with_probes(batch)
            readings, measured = self._readings(run, batch)
            answers = [
                _answer(id_, *responses[id_], readings.get(id_, {}))
                for id_ in batch
                if id_ in responses
            ]
            writer.add(answers)
            shared.add(answers)
            reported |= {
                (response.get("model"), response.get("fingerprint"))
                for response, _ in responses.values()
            }
            size += len(batch)
            lacking += len(batch) - len(responses) - measured
        self._wait_for(lacking, run, completion)
        return ReadWindow(size, writer.columns(), models_of(reported), shared.found())

    def count(self, read: ReadWindow, run: Run, monitor: Monitor, closed: Round) -> RoundData:
        """Return the counts of a closed window; a repeat gives the same."""
        traffic, window = monitor.plan.traffic, read.columns
        if traffic is None:
            raise PoisonError(f"The monitor {monitor.name} watches no traffic, but has a window.")
        entrants = {
            dimension: self._entrants(closed, dimension, window)
            for dimension in sorted({pair.dimension for pair in monitor.plan.comparisons})
        }
        most, used = (
            most_strata(len(monitor.plan.all_comparisons)),
            np.zeros(window.size, dtype=np.bool_),
        )
        users: dict[str, CountedUsers] = {}
        for comparison in monitor.plan.all_comparisons:
            who = entrants[comparison.pair.dimension]
            users[comparison.key], is_counted = count_users(comparison, window, who, traffic, most)
            used |= is_counted
        return RoundData(
            counted={key: count.counted for key, count in users.items()},
            sets={key: count.heaviest for key, count in users.items()},
            described=(_description(run, monitor, closed, read, entrants, users, used),),
        )

    def _readings(
        self, run: Run, members: Sequence[str]
    ) -> tuple[dict[str, dict[str, MemberReading]], int]:
        """Return the measurements of some members that arrived in time, and their number."""
        ids = [member_features_id(run, member, pin) for member in members for pin in run.extractors]
        in_time = self._measured.arrived(run.id, ids, in_time=True)
        readings: dict[str, dict[str, MemberReading]] = {}
        measured = 0
        for features in self._store.records.bodies_of(Features, in_time).values():
            measured += 1
            unscorable = features.get("unscorable")
            reading = MemberReading(None if unscorable else features["values"], unscorable)
            readings.setdefault(features["response_id"], {})[features["extractor"]] = reading
        return readings, measured

    def _wait_for(self, lacking: int, run: Run, completion: Completion) -> None:
        if lacking and self._now() < completion.at + LOST_AFTER:
            raise TransientError(
                f"{lacking} records of the window {run.id} are not in the store yet.",
                retry_after_s=self._forecast.wait_s(run.id, lacking),
            )
        if lacking:
            log("diagnoser").error("a window lacks records that are lost", run=run.id, lost=lacking)

    def _entrants(self, closed: Round, dimension: str, window: WindowColumns) -> Entrants:
        """Enroll the users of a dimension in chunks; a repeat continues an interrupted one."""
        members, new = users_in_groups(window, dimension), np.zeros(window.users, dtype=np.bool_)
        users = np.flatnonzero(members.present)
        for begin in range(0, len(users), USERS_PER_CHUNK):
            codes = users[begin : begin + USERS_PER_CHUNK].tolist()
            by_name = {window.name(user): user for user in codes}
            enrolled = self._store.enrolled_units.enroll(
                closed.monitor_id, closed.epoch, dimension, by_name, closed.round
            )
            new[[by_name[name] for name in enrolled]] = True
        return Entrants(new=new, known=members.present & ~new, mixed=members.mixed)


def _answer(
    response_id: str,
    response: Mapping[str, Any],
    probe: Mapping[str, Any],
    readings: Mapping[str, MemberReading],
) -> WindowAnswer:
    return WindowAnswer(
        key=probe["key"],
        user=probe.get("set_id"),
        groups=probe["groups"],
        readings=readings,
        has_text=response["ending"] == Ending.ANSWERED,
        answered_at=datetime.fromisoformat(probe["at"]),
        facts=probe.get("facts", {}),
        response_id=response_id,
    )


def _description(
    run: Run,
    monitor: Monitor,
    closed: Round,
    read: ReadWindow,
    entrants: Mapping[str, Entrants],
    counted: Mapping[str, CountedUsers],
    used: Bools,
) -> Description:
    if run.window is None:
        raise PoisonError(f"The run {run.id} has no window to describe.")
    window, lost = read.columns, read.size - read.columns.size
    accounts = accounts_of(window, monitor.plan.comparisons, used)
    users = {key: user_counts_of(count.counted.counts) for key, count in counted.items()}
    strata = {key: count.strata for key, count in counted.items()}
    return Description(
        **closed.model_dump(include=set(HEADER - {"epoch"})),
        monitor=monitor.name,
        window=run.window,
        answers=read.size,
        accounts=accounts.model_copy(update={"unmeasured": accounts.unmeasured + lost}),
        without_unit=window.size - int(window.starts[-1]),
        known_units={name: int(entrant.known.sum()) for name, entrant in entrants.items()},
        mixed_units={name: int(entrant.mixed.sum()) for name, entrant in entrants.items()},
        shared_facts=dict(read.shared_facts),
        described=window_descriptions(monitor.plan, window, users, strata),
    )
