"""Monitors answer three questions: twins, names and texts as clusters, and the gap at a horizon."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, islice
from typing import Any

import numpy as np
import pytest

from biaswatch.shared.analysis.monitors.blocks import StimulatedAnswer, SuiteBlocks, disjoint_blocks
from biaswatch.shared.analysis.monitors.evidence import (
    closed_round,
    evidence_of,
    increments_of,
    repeated_probes,
)
from biaswatch.shared.analysis.monitors.families import merged_evidence, round_vectors
from biaswatch.shared.analysis.monitors.method import counted
from biaswatch.shared.analysis.monitors.round_answers import (
    Counts,
    PlannedAnswer,
    RoundAnswers,
    RoundScope,
)
from biaswatch.shared.contracts import (
    ClosedBy,
    Completion,
    Evidence,
    MonitorPlan,
    Round,
    Target,
    Verdict,
    WatchedFeature,
    WatchedPair,
    parse_target,
)
from biaswatch.shared.contracts.evidence_rows import increments_in, round_evidence
from tests.support.monitored import round_run
from tests.support.records import AT, make_monitor, make_plan

GROUPS = ("a", "b")


class SimulatedMonitor:
    """Rounds of one suite: texts, each under one name of every group."""

    def __init__(self, seed: int, names: int, texts: int = 20, **fields: Any) -> None:
        self.rng = np.random.default_rng(seed)
        groups: Sequence[str] = fields.pop("groups", GROUPS)
        gap, name_sd = fields.pop("gap", 0.0), fields.pop("name_sd", 0.0)
        self.resid = fields.pop("resid", 0.1)
        watched = WatchedFeature(extractor="rating", feature="rating")
        pairs = [WatchedPair(dimension="side", a=a, b=b) for a, b in combinations(groups, 2)]
        self.plan: MonitorPlan = make_plan(features=(watched,), comparisons=tuple(pairs), **fields)
        self.planned, answers, means = [], [], []
        own = {(g, n): self.rng.normal(0, name_sd) for g in groups for n in range(names)}
        for text in range(texts):
            for group in groups:
                name = text % names
                stimuli = {"name": f"{group}{name}", "text": f"t{text}"}
                key = f"{group}{text}"
                self.planned.append(PlannedAnswer(f"s{text}", key, {"side": group}, key))
                answers.append(StimulatedAnswer(f"s{text}", {"side": group}, stimuli))
                sign = 1 if group == groups[0] else -1
                means.append(0.5 + own[group, name] + sign * gap / 2)
        self.means = np.array(means)
        self.fixed = self.rng.normal(self.means, self.resid)
        self.blocks = SuiteBlocks(self.plan.random, answers) if self.plan.random else None

    def rounds(self, count: int, cached: float = 0.0) -> list[tuple[list[Evidence], Round]]:
        """Close rounds as the diagnoser does; a cache gives the share `cached` of the answers."""
        monitor, last, before = make_monitor(plan=self.plan), None, None
        rounds: list[tuple[list[Evidence], Round]] = []
        for number in range(count):
            renews = self.plan.renews_answers
            values = self.rng.normal(self.means, self.resid) if renews else self.fixed
            hits = np.zeros(len(values), dtype=np.bool_)
            if number == 0:
                self.fixed = values
            elif cached:
                hits = self.rng.random(len(values)) < cached
                values = np.where(hits, self.fixed, values)
            ratings = [{"rating": float(value)} for value in np.clip(values, 0, 1)]
            run = round_run(monitor, number)
            ended = Completion(
                at=AT, run_id=run.id, stage="features", closed_by=ClosedBy.ARRIVAL, expected=1,
                arrived=1,
            )  # fmt: skip
            closed = closed_round(run, monitor, ended, ("m",), before, AT)
            keys = {answer.unit for answer, hit in zip(self.planned, hits, strict=True) if hit}
            is_repeated = repeated_probes(self.plan, closed, keys)
            planned = [
                replace(answer, is_repeated=is_repeated(answer.unit)) for answer in self.planned
            ]
            answers = RoundAnswers(planned, {"rating": ratings})
            scope = RoundScope(self.plan.claim, number, self.blocks)
            counts, _ = counted(self.plan.all_comparisons, answers, scope)
            increments = increments_of(closed, self.plan.all_comparisons, counts)
            up_to = partial(_counts_up_to, rounds)
            evidence = evidence_of(increments, last or (), closed, monitor, up_to, self.blocks)
            stored = round_evidence(increments, evidence)
            assert list(increments_in(stored)) == increments
            vectors = round_vectors(self.plan.all_comparisons, answers)
            merged = merged_evidence(vectors, evidence, last, closed, before, self.plan)
            before = closed.model_copy(update={"merged": merged})
            last = evidence
            rounds.append((list(evidence), before))
        return rounds


def _counts_up_to(rounds: list[tuple[list[Evidence], Round]], number: int, key: str) -> Counts:
    return {one.comparison_key: one.counts for one in rounds[number][0]}[key]


def test_names_alone_raise_no_alarm_beyond_them_and_are_treated_differently() -> None:
    fields: dict[str, Any] = {"names": 12, "name_sd": 0.2}
    beyond = SimulatedMonitor(8, random=("name", "text"), **fields).rounds(12)
    assert {evidence[0].verdict for evidence, _ in beyond} == {Verdict.INCONCLUSIVE}
    last = beyond[-1][0][0]
    assert (last.same_treatment, last.group_effect) == ("differs", "not shown")
    assert last.gap.low is not None
    assert last.these is not None
    assert last.these.low is not None
    assert last.gap.low <= last.these.low
    about_these = SimulatedMonitor(8, **fields).rounds(12)
    assert Verdict.DISPARITY in {evidence[0].verdict for evidence, _ in about_these}


def test_four_names_are_too_few_whatever_the_gap() -> None:
    rounds = SimulatedMonitor(3, names=4, gap=0.4, random=("name", "text")).rounds(8)
    last = rounds[-1][0][0]
    assert last.group_effect == "too few names"
    assert last.verdict is Verdict.INCONCLUSIVE
    assert last.same_treatment == "differs"


def test_a_gap_beyond_names_is_found_with_enough_of_them_and_sooner_within_a_horizon() -> None:
    fields: dict[str, Any] = {"names": 14, "texts": 28, "gap": 0.2, "name_sd": 0.03}
    first = {}
    for looks in (None, 12):
        monitor = SimulatedMonitor(4, random=("name", "text"), looks=looks, **fields)
        verdicts = [evidence[0].verdict for evidence, _ in monitor.rounds(12)]
        first[looks] = verdicts.index(Verdict.DISPARITY)
    assert first[12] <= 11
    assert first[None] <= 11


def test_answers_at_temperature_0_count_once() -> None:
    target = Target(name="x:y", provider="simulator", model="y", parameters={"temperature": 0})
    evidence = [row[0] for row, _ in SimulatedMonitor(5, names=20, target=target).rounds(5)]
    assert {one.units for one in evidence} == {20}
    assert len({one.log_e for one in evidence}) == 1
    assert {one.log_e_same_treatment for one in evidence} == {evidence[0].log_e_same_treatment}


def test_merged_evidence_names_what_stands_out() -> None:
    monitor = SimulatedMonitor(6, names=20, gap=0.3, groups=("a", "b", "c"))
    merged = [closed.merged for _, closed in monitor.rounds(3)]
    last = merged[-1]
    assert last is not None
    assert last.answer == "differs"
    assert "rating.rating:side:a-b" in last.stands_out
    assert "rating.rating:side:b-c" not in last.stands_out


def test_blocks_share_no_name_and_no_text() -> None:
    levels = {
        f"{pair}-{text}": {("name", f"a{pair}"), ("name", f"b{pair}"), ("text", str(text))}
        for pair in range(6)
        for text in range(20)
    }
    blocks = disjoint_blocks(levels)
    assert len(set(blocks.values())) == 6
    owners: dict[tuple[str, str], int] = {}
    for name, block in blocks.items():
        assert all(owners.setdefault(level, block) == block for level in levels[name])
    assert sorted(list(blocks.values()).count(block) for block in range(6)) == [3, 3, 3, 3, 4, 4]


@pytest.mark.parametrize(
    "target",
    [
        *("x:y?temperature=0", "x:y?temperature=0.0", "x:y?top_k=1", "x:y?top_p=0", "x:y?seed=7"),
        "replay:answers.jsonl",
    ],
)
def test_a_bank_without_randomness_does_not_renew_answers(target: str) -> None:
    target = target.replace("x:", "simulator:")
    assert not make_plan(target=parse_target(target)).renews_answers
    assert make_plan(target=parse_target("simulator:y?temperature=0.7")).renews_answers
    assert not make_plan(scaffold="likelihood").renews_answers


@pytest.mark.slow
def test_cached_answers_count_once_and_raise_no_more_false_alarms_than_alpha() -> None:
    differs = 0
    for seed in range(60):
        rounds = SimulatedMonitor(seed, names=12, texts=12, resid=0.2).rounds(12, cached=0.9)
        differs += rounds[-1][0][0].same_treatment == "differs"
    assert differs <= 60 * 0.05 + 3.5 * (60 * 0.05 * 0.95) ** 0.5


def test_an_answer_from_the_cache_is_no_unit_of_evidence() -> None:
    rounds = SimulatedMonitor(5, names=20, groups=("a", "b", "c")).rounds(3, cached=1.0)
    assert [evidence[0].units for evidence, _ in rounds] == [20, 20, 20]
    merged = [closed.merged for _, closed in rounds]
    assert len({one.log_e for one in merged if one is not None}) == 1
    assert None not in merged


def test_rounds_are_the_same_when_closed_again() -> None:
    rounds = [
        [row for evidence, _ in islice(monitor.rounds(4), 4) for row in evidence]
        for monitor in (SimulatedMonitor(8, names=9, random=("name",)) for _ in range(2))
    ]
    assert rounds[0] == rounds[1]
