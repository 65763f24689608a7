"""The searcher moves searches on from the store, whatever ends or doubles it."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from biaswatch.services.searcher.handlers.rounds import SearchRounds
from biaswatch.shared.analysis.search import replay, results_of
from biaswatch.shared.contracts import (
    Diagnosis,
    ExtractorStatus,
    Purpose,
    Run,
    Target,
    parse_target,
)
from biaswatch.shared.contracts.search import Search
from biaswatch.shared.requests.searches import SearchResults
from biaswatch.shared.store import PlannedProbes, Store, migrate
from biaswatch.shared.store.searches import Searches, SearchPhase, StoredSearch
from tests.support.searched import AT, UnfairTarget, rounds_of, small_search


@pytest.fixture
def new_store(tmp_path: Path) -> Iterator[Callable[[str], Store]]:
    stores: list[Store] = []

    def opened(name: str) -> Store:
        url = f"sqlite:///{tmp_path / name}.db"
        migrate(url)
        stores.append(Store.open(url))
        return stores[-1]

    yield opened
    for store in stores:
        store.close()


@pytest.fixture
def here(new_store: Callable[[str], Store]) -> Store:
    """Return a store on SQLite alone; `store` is one on each kind of database."""
    return new_store("here")


def stored_of(store: Store, search: Search) -> StoredSearch:
    stored = store.searches.get(search.id)
    assert stored is not None
    return stored


def results(store: Store, search: Search) -> SearchResults:
    stored = stored_of(store, search)
    return results_of(
        replay(store.searches.plan(stored), store.searches.rounds(stored)), stored.why
    )


def undisturbed(store: Store, search: Search) -> SearchResults:
    target = UnfairTarget(store)
    store.searches.start(search)
    target.finish(search)
    return results(store, search)


def test_a_search_spends_its_budget_and_ends(store: Store) -> None:
    search = small_search(calls=60)
    undisturbed(store, search)
    stored = stored_of(store, search)
    assert stored.state is SearchPhase.ENDED
    assert stored.why
    assert (stored.closed_calls, stored.missing, stored.run) == (60, 0, None)
    [first, *_] = store.searches.rounds(stored)
    run = next(store.records.get(Run, [first.run_id]))
    assert run.purpose is Purpose.SEARCH
    assert store.suites.outline(run.suite_hash) is not None


class KilledError(Exception):
    """The end of a process."""


class Killer:
    """Lets processes die before or after a step on the store, at random."""

    def __init__(self) -> None:
        self._random, self.kills = Random(5), 0

    def strikes(self) -> bool:
        """Return whether the process dies now."""
        dies = self._random.random() < 0.25
        self.kills += dies
        return dies

    def around(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Return a step that a process may not reach or not survive."""

        def step(*arguments: Any) -> Any:
            if self.strikes():
                raise KilledError
            result = method(*arguments)
            if self.strikes():
                raise KilledError
            return result

        return step


@pytest.mark.parametrize("proposer", [None, parse_target("simulator:proposer")])
def test_kills_at_random_leave_the_same_findings_to_the_digit(
    new_store: Callable[[str], Store], monkeypatch: pytest.MonkeyPatch, proposer: Target | None
) -> None:
    search, killer = small_search(proposer=proposer), Killer()
    expected_store, store = new_store("undisturbed"), new_store("killed")
    expected = undisturbed(expected_store, search)
    for name in ("begin", "close", "end"):
        monkeypatch.setattr(Searches, name, killer.around(getattr(Searches, name)))
    target = UnfairTarget(store)
    store.searches.start(search)
    while store.searches.under_way():
        with suppress(KilledError):
            for run in target.run_once():
                if not killer.strikes():  # a run that is not published is published later
                    target.publish(run)
    assert killer.kills >= 20
    assert results(store, search) == expected
    assert rounds_of(store, search) == rounds_of(expected_store, search)


def test_a_model_is_asked_for_scenarios_and_the_accepted_ones_are_asked(here: Store) -> None:
    search = small_search(calls=150, proposer=parse_target("simulator:proposer"))
    result = undisturbed(here, search)
    assert [one.name for one in result.proposed] == ["proposed-0", "proposed-1", "proposed-2"]
    assert all(one.sets for one in result.proposed)
    assert (result.refused, result.spent.requests) == (1, 1)
    first, second, *_ = here.searches.rounds(stored_of(here, search))
    [asked] = next(here.records.get(Run, [first.run_id])).targets
    assert (asked.name, first.sets) == ("simulator:proposer", ())
    assert len(second.sets) == 10
    assert stored_of(here, search).closed_calls == result.spent.calls


def test_a_model_that_proposes_nothing_stops_the_search_and_is_named(here: Store) -> None:
    search = small_search(calls=60, proposer=parse_target("simulator:proposer"))
    target = UnfairTarget(here, answering=False)
    here.searches.start(search)
    for run in target.run_once():
        target.publish(run)
    target.expire()
    assert target.run_once() == []
    stored = stored_of(here, search)
    assert stored.state is SearchPhase.STOPPED
    assert "The model simulator:proposer proposed no scenario" in str(stored.why)
    target.answering = True
    here.searches.start(search)
    target.finish(search)
    assert stored_of(here, search).closed_calls == 59


def test_two_searchers_ask_every_round_once(store: Store) -> None:
    search = small_search(calls=80)
    target = UnfairTarget(store)
    store.searches.start(search)
    random = Random(1)
    searchers = [target.searcher(), target.searcher()]
    while stale := store.searches.under_way():
        order = random.sample(searchers, 2)
        for searcher in order:  # both have read the same state
            for stored in stale:
                if (run := searcher.next_run(stored)) is not None:
                    target.publish(run)
    published = {run.id for run in target.runs}
    rounds = store.searches.rounds(stored_of(store, search))
    assert published == {round_.run_id for round_ in rounds}
    assert [round_.number for round_ in rounds] == list(range(len(rounds)))
    assert stored_of(store, search).closed_calls == 80


def test_a_larger_budget_continues_with_the_same_evidence(
    new_store: Callable[[str], Store],
) -> None:
    whole, halves = new_store("whole"), new_store("halves")
    search = small_search(calls=120)
    undisturbed(whole, search)
    small = search.model_copy(update={"calls": 60})
    undisturbed(halves, small)
    assert stored_of(halves, search).closed_calls == 60
    halves.searches.start(search)
    target = UnfairTarget(halves)
    target.finish(search)
    assert stored_of(halves, search).closed_calls == 120
    evidence = rounds_of(halves, search)
    assert len(evidence) == len(rounds_of(whole, search))
    assert evidence[:3] == rounds_of(whole, search)[:3]


def test_a_budget_raised_during_a_round_keeps_the_round_as_planned(here: Store) -> None:
    search = small_search(calls=200, sets_per_round=60)
    target = UnfairTarget(here)
    here.searches.start(search)
    for run in target.run_once():
        target.publish(run)
    [last] = target.run_once()  # the remaining 40 sets instead of 60
    here.searches.start(search.model_copy(update={"calls": 320}))
    target.publish(last)
    target.finish(search)
    rounds = here.searches.rounds(stored_of(here, search))
    assert [len(round_.sets) for round_ in rounds] == [60, 40, 60]


def test_a_search_waits_for_its_extractor_and_says_so(here: Store) -> None:
    search = small_search(calls=20)
    searcher = SearchRounds(here, now=lambda: AT)
    here.searches.start(search)
    assert searcher.next_run(stored_of(here, search)) is None
    assert stored_of(here, search).why == "The extractor rating is not running; start it."
    here.extractors.announce(ExtractorStatus("rating", "3", ("rating",), AT))
    assert searcher.next_run(stored_of(here, search)) is not None
    assert stored_of(here, search).why is None


def test_missing_answers_are_counted_and_a_round_without_any_stops_the_search(here: Store) -> None:
    search = small_search(calls=60)
    target = UnfairTarget(here, answering=False)
    here.searches.start(search)
    for run in target.run_once():
        target.publish(run)
    assert target.run_once() == []  # it waits for the answers
    target.expire()
    assert target.run_once() == []
    stored = stored_of(here, search)
    assert (stored.state, stored.closed_calls, stored.missing) == (SearchPhase.STOPPED, 20, 20)
    assert stored.why is not None
    assert "Nothing was measured" in stored.why
    target.answering = True
    here.searches.start(search)  # the same request continues it
    target.finish(search)
    assert (stored_of(here, search).closed_calls, stored_of(here, search).missing) == (60, 20)


def test_answers_after_the_close_of_a_run_change_no_evidence(here: Store) -> None:
    search = small_search(calls=20)
    target = UnfairTarget(here, answering=False)
    here.searches.start(search)
    [run] = target.run_once()
    target.publish(run)
    target.expire()
    target.answering = True
    suite = here.suites.outline(run.suite_hash)
    assert suite is not None
    target.answer(list(PlannedProbes(here.suites, suite, run).read(AT)))
    target.run_once()
    assert stored_of(here, search).missing == 20


def test_a_cancelled_search_closes_its_round_and_asks_nothing_more(here: Store) -> None:
    search = small_search(calls=60)
    target = UnfairTarget(here)
    here.searches.start(search)
    [run] = target.run_once()
    assert here.searches.stop(search.id, "It was cancelled.")
    assert not here.searches.stop(search.id, "It was cancelled.")
    target.publish(run)
    assert target.run_once() == []
    assert here.searches.under_way() == []
    assert stored_of(here, search).closed_calls == 20


def test_rounds_have_no_diagnosis_and_are_no_runs_of_the_list(here: Store) -> None:
    search = small_search(calls=20)
    undisturbed(here, search)
    [round_] = here.searches.rounds(stored_of(here, search))
    assert here.records.count(Diagnosis, run_id=round_.run_id) == 0
    assert here.records.latest_ids(Run, 10, purpose=Purpose.STUDY, begins="") == []
    assert here.runs_under_way.count("default") == 0
