"""A monitor of traffic with strata, whose facts somebody hostile has sent in, as it is stored."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from biaswatch.shared.contracts import (
    Described,
    Estimate,
    Monitor,
    Record,
    StratumUsers,
    Traffic,
    UserCounts,
    WatchedFeature,
    window_at,
)
from biaswatch.shared.contracts.comparison import Method
from biaswatch.shared.contracts.evidence_rows import round_evidence
from tests.support.records import (
    make_description,
    make_evidence,
    make_increment,
    make_round,
    make_run,
    make_traffic_monitor,
)

NAME = "stratified"
WINDOWS, WINDOW_S = 3, 3600


def stratified_traffic(facts: Iterable[str], windows: int = WINDOWS) -> list[Record]:
    """Return the monitor and its windows, in which each fact is a stratum of ten users a side."""
    monitor, topics = _monitor(), list(facts)
    records: list[Record] = [monitor]
    for number in range(windows):
        records += _window(monitor, number, topics)
    return records


def _monitor() -> Monitor:
    plain = make_traffic_monitor(name=NAME, at=datetime.now(UTC)).plan
    words = WatchedFeature(extractor="words", feature="words", high=10, method=Method.MATCHED)
    traffic = Traffic(window_s=WINDOW_S, strata=("topic", "language"))
    plan = plain.model_copy(update={"traffic": traffic, "features": (words,)})
    return make_traffic_monitor(name=NAME, plan=plan.model_validate(plan.model_dump()))


def _window(monitor: Monitor, number: int, facts: list[str]) -> list[Record]:
    comparison = monitor.plan.all_comparisons[0]
    window = window_at(monitor.at + timedelta(seconds=number * WINDOW_S), WINDOW_S)
    run = make_run(
        purpose="production", suite=monitor.plan.target.model, suite_hash=None, window=window,
        monitor_id=monitor.monitor_id, round=number,
    )  # fmt: skip
    common = {
        "monitor_id": monitor.monitor_id, "round": number, "run_id": run.id,
        "purpose": "production",
    }  # fmt: skip
    strata = tuple(
        StratumUsers(
            facts=(fact, "en"), first={60 - place: 10}, second={20: 10}, matched=(8, 9),
            differences={100 - place: 8},
        )
        for place, fact in enumerate(facts)
    )  # fmt: skip
    described = Described(
        extractor="words", feature="words", dimension="gender", groups=(),
        comparison_key=comparison.key, strata=strata,
    )  # fmt: skip
    evidence = make_evidence(
        **common,
        comparison=comparison,
        gap=Estimate(value=3.2, low=1.0, high=6.0),
        unadjusted=Estimate(value=4.0, low=3.0, high=5.0),
        users=UserCounts(first=8, second=9, first_alone=2, second_alone=1, without_stratum=0),
    )
    return [
        run,
        make_round(**common, monitor=NAME),
        *round_evidence([make_increment(**common, comparison=comparison)], [evidence]),
        make_description(**common, monitor=NAME, window=window, described=(described,)),
    ]
