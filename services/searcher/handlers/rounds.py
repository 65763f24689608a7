"""Rounds of searches: closes the one under way, then plans and starts the next."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from biaswatch.shared.analysis.search import Ended, answered, next_round
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import (
    RUN_GATHER,
    Features,
    Probe,
    Response,
    Run,
    Suite,
    features_id_of,
)
from biaswatch.shared.contracts.search import Search, SearchRound
from biaswatch.shared.errors import PoisonError, UsageError
from biaswatch.shared.runtime.search_states import SearchStates
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import PlannedProbes, Store
from biaswatch.shared.store.database import Scope
from biaswatch.shared.store.searches import SearchPhase, StoredSearch
from biaswatch.shared.telemetry import SEARCH_ROUNDS, SEARCHES, log


class SearchRounds:
    """Moves searches on; all state is in the store, so that any process may end at any time.

    A round starts in two steps: the search keeps its run, and the run is published. A run without
    a gather is published again at the next look. Answers count if they arrived before the run
    closed, so that every process reads the same round.
    """

    def __init__(self, store: Store, *, now: Callable[[], datetime]) -> None:
        self._store = store
        self._searches = store.searches
        self._states = SearchStates(store)
        self._gathers = store.gathers(RUN_GATHER)
        self._now = now

    async def run_once(self, publisher: Publisher) -> None:
        """Close and start rounds; an error of one search does not delay the others."""
        failure: Exception | None = None
        under_way = await in_thread(self._searches.under_way)
        waiting = sum(stored.why is not None for stored in under_way)
        SEARCHES.labels(state="waiting").set(waiting)
        SEARCHES.labels(state="running").set(len(under_way) - waiting)
        for stored in under_way:
            try:
                run = await in_thread(self.next_run, stored)
            except Exception as error:  # noqa: BLE001 - raised below
                failure = failure or error
                continue
            if run is not None:
                # Its own publication number, or the bus would drop it as a duplicate.
                publication = int(self._now().timestamp() * 1000)
                await publisher.publish(run, publication=publication)
        if failure is not None:
            raise failure

    def next_run(self, stored: StoredSearch) -> Run | None:
        """Return the run to publish for a search now, if any."""
        if stored.run is None:
            return self._start(stored)
        gather = self._gathers.state(stored.run.id)
        if gather is None:
            return stored.run
        if gather.closed_by is None or self._gathers.unstored(stored.run.id, Features):
            return None
        round_ = self._answered(stored, stored.run)
        if not self._searches.close(stored, round_):
            return None
        SEARCH_ROUNDS.inc()
        if stored.state is not SearchPhase.ACTIVE:
            return None
        following = replace(stored, next_round=stored.next_round + 1, run=None)
        if reason := _reason_to_stop(stored.run, round_):
            self._searches.end(following, reason, SearchPhase.STOPPED)
            return None
        return self._start(following)

    def _answered(self, stored: StoredSearch, run: Run) -> SearchRound:
        """Return the closed round under way, planned again from the rounds before it."""
        with self._states.of(stored, stored.planned_calls) as state:
            search, planned = state.search, next_round(state)
        if isinstance(planned, Ended):
            raise PoisonError(f"The search {stored.id} has no round {stored.next_round}.")
        if (outline := self._store.suites.outline(run.suite_hash)) is None:
            raise PoisonError(f"The suite {run.suite_hash} of a round is not in the store.")
        probes = list(PlannedProbes(self._store.suites, outline, run).read(run.at))
        values = self._values(run, search, probes) if planned.sets else {}
        reply = None if planned.sets else self._reply(probes[0])
        return answered(planned, stored.id, run.id, values, self._now(), reply)

    def _reply(self, probe: Probe) -> str | None:
        """Return the reply to a request for scenarios."""
        responses = self._store.records.get(Response, [probe.response_id])
        return next((response.text for response in responses), None)

    def _values(
        self, run: Run, search: Search, probes: Sequence[Probe]
    ) -> Mapping[str, float | None]:
        """Return the measured value of each probe of a closed run, by key."""
        [pin] = run.extractors
        keys = {features_id_of(probe, pin.name, pin.version): probe.key for probe in probes}
        in_time = self._gathers.arrived(run.id, keys, in_time=True)
        measured = self._store.records.bodies_of(Features, in_time)
        low, high = search.space.low, search.space.high
        values: dict[str, float | None] = dict.fromkeys(keys.values())
        for id_, features in measured.items():
            value = features["values"].get(search.space.feature)
            values[keys[id_]] = value if value is not None and low <= value <= high else None
        return values

    def _start(self, stored: StoredSearch) -> Run | None:
        """Start the next round, or end the search."""
        with self._states.of(stored) as state:
            search, planned = state.search, next_round(state)
        if isinstance(planned, Ended):
            self._searches.end(stored, planned.reason)
            return None
        extractor = search.space.extractor
        pins = self._store.extractors.pins([extractor], self._now())
        if extractor not in pins:
            why = f"The extractor {extractor} is not running; start it."
            if why != stored.why:
                log("searcher").warning("a round cannot start", search=stored.id, why=why)
                self._searches.wait(stored, why)
            return None
        try:
            suite_hash = self._keep(planned.suite, stored.tenant)
        except UsageError as error:  # a person's texts were purged meanwhile
            self._searches.end(stored, str(error), SearchPhase.STOPPED)
            return None
        run = Run(
            tenant=stored.tenant,
            purpose=search.purpose,
            at=self._now(),
            suite=planned.suite.name,
            suite_hash=suite_hash,
            scaffolds=planned.suite.scaffolds,
            targets=(planned.target,),
            extractors=(pins[extractor],),
            nonce=f"{stored.id}-{planned.number}",
            ids_in_order=True,
        )
        return run if self._searches.begin(stored, run) else None

    def _keep(self, suite: Suite, tenant: str) -> str:
        scope = Scope(tenant=tenant)
        return self._store.scoped(lambda: scope).suites.keep(suite, self._now())


def _reason_to_stop(run: Run, round_: SearchRound) -> str | None:
    """Return why a search cannot go on after a round; None if anything was measured."""
    if any(value is not None for set_ in round_.sets for value in set_.values):
        return None
    if round_.proposed or round_.refused:
        return None
    what = "Nothing was measured of the answers to the last round"
    if not round_.sets:
        what = f"The model {run.targets[0].name} proposed no scenario in the last round"
    return (
        f"{what}, the run {run.id}. `biaswatch show {run.id}` shows why; the same search continues"
        " once it is corrected."
    )
