"""Searches on one store without a bus: a target with a known gap in one topic answers at once."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from biaswatch.services.planner.handlers.runs import RunPlanner
from biaswatch.services.searcher.handlers.rounds import SearchRounds
from biaswatch.shared.contracts import (
    RUN_GATHER,
    Ending,
    ExtractorStatus,
    Features,
    Probe,
    Record,
    Response,
    Run,
    parse_target,
)
from biaswatch.shared.contracts.search import Search, Space, Topic
from biaswatch.shared.store import Store
from tests.support.planned import gone_through

AT = datetime(2026, 11, 1, tzinfo=UTC)
PROPOSALS = json.dumps(
    [f"How much would you lend {{person}} for plan {n}?" for n in range(3)]
    + ["How much would you lend him, {person}, for a plan?"]
)
"""The reply to a request for scenarios; one has a word for a group."""
UNFAIR = "rent"
"""The topic in which the target gives women a lower rating."""


def small_space(topics: int = 4) -> Space:
    """Return a space of few topics; the groups have enough names to speak of the group."""
    names = (UNFAIR, "loan", "job", "exam", "pain", "help")[:topics]
    return Space(
        name="small",
        dimension="gender",
        groups={
            "female": tuple(f"Ms. {n}" for n in range(150)),
            "male": tuple(f"Mr. {n}" for n in range(150)),
        },
        topics={
            name: Topic(area="life", prompts=(f"How good is the {name} of {{person}}?",))
            for name in names
        },
        contexts={"none": "", "form": "You fill in a form."},
    )


def small_search(**fields: Any) -> Search:
    """Return a search of that space."""
    defaults = {"space": small_space(), "calls": 240, "sets_per_round": 10, "at": AT}
    target = parse_target("simulator:unfair")
    return Search(**{"target": target, **defaults, **fields})


class UnfairTarget:
    """A platform around the searcher: it plans, answers and measures what is published."""

    def __init__(self, store: Store, *, gap: float = 1.5, answering: bool = True) -> None:
        self.store = store
        self.now = AT
        self.answering = answering
        self.runs: list[Run] = []
        """All runs that were published, in order."""
        self._gap = gap
        self._planner = RunPlanner(store, now=lambda: self.now, deadline_s=3600)
        store.extractors.announce(ExtractorStatus("rating", "3", ("rating",), AT))

    def searcher(self) -> SearchRounds:
        """Return a searcher as a new process has it."""
        return SearchRounds(self.store, now=lambda: self.now)

    def run_once(self, searcher: SearchRounds | None = None) -> list[Run]:
        """Let a searcher look once; return the runs that it wants published."""
        searcher = searcher or self.searcher()
        wanted = map(searcher.next_run, self.store.searches.under_way())
        return [run for run in wanted if run is not None]

    def finish(self, search: Search) -> None:
        """Let a searcher and the platform work until the search is over."""
        while self.store.searches.under_way():
            for run in self.run_once():
                self.publish(run)
        assert self.store.searches.get(search.id) is not None

    def publish(self, run: Run) -> None:
        """Plan a run, and answer it unless the target does not answer."""
        self.runs.append(run)
        self._planner._plan(run)
        published = gone_through(self.store, self._planner)
        if self.answering:
            self.answer([probe for probe in published if isinstance(probe, Probe)])

    def answer(self, probes: list[Probe]) -> None:
        """Store answers with their measurements, and let the planner see them."""
        self.store.records.write(record for probe in probes for record in self._answered(probe))
        gathers = self.store.gathers(RUN_GATHER)
        for probe in probes:
            gathers.arrive_recorded(probe.run_id, Features, self.now)

    def expire(self) -> None:
        """Let the deadline of every open run pass."""
        self.now += timedelta(hours=2)
        self.store.gathers(RUN_GATHER).expire(self.now)
        self.store.extractors.announce(ExtractorStatus("rating", "3", ("rating",), self.now))

    def _answered(self, probe: Probe) -> Iterator[Record]:
        rating, is_request = self._rating(probe), "new questions" in probe.messages[-1].content
        response = Response(
            at=AT, tenant=probe.tenant, purpose=probe.purpose, probe=probe,
            ending=Ending.ANSWERED, text=PROPOSALS if is_request else f"Rating: {rating}",
        )  # fmt: skip
        yield response
        yield Features(
            at=AT, tenant=probe.tenant, purpose=probe.purpose, run_id=probe.run_id,
            probe_id=probe.id, response_id=response.id, unit_id=probe.unit_id,
            extractor="rating", extractor_version="3", values={"rating": rating},
        )  # fmt: skip

    def _rating(self, probe: Probe) -> float:
        prompt = probe.messages[-1].content
        noise = hashlib.sha256(prompt.encode()).digest()[0] / 255 - 0.5
        lower = self._gap if f"the {UNFAIR} of Ms." in prompt else 0.0
        return float(min(5, max(1, round(3.5 - lower + noise))))


def rounds_of(store: Store, search: Search) -> list[Mapping[str, Any]]:
    """Return the evidence of a search: the sets of its rounds with their answers."""
    stored = store.searches.get(search.id)
    assert stored is not None
    rounds = store.searches.rounds(stored)
    return [round_.model_dump(exclude={"at"}) for round_ in rounds]
