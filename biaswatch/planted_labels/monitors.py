"""Labels rounds of monitors with an erring instrument on a whole platform."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TypedDict

from biaswatch.exporting.answers import runs_named
from biaswatch.exporting.labels import drawn_sample, send_labels, tasks_of
from biaswatch.local.client import GatewayClient
from biaswatch.local.platform import embedded_platform
from biaswatch.planted_labels.rows import ALPHA
from biaswatch.planted_labels.studies import (
    CALLS,
    LabelledCase,
    SimulatedPerson,
    corrected_gap,
    model_name,
    true_answers,
)
from biaswatch.planted_monitors.cases import HOUR_S, TOLERANCE
from biaswatch.planted_monitors.watching import fast_clock, measurable, rounds_added_up
from biaswatch.shared.contracts import AlarmKind, AlarmState, Suite
from biaswatch.shared.runtime.settings import Settings

CASES: Sequence[LabelledCase] = (
    LabelledCase("monitored rates", 1),
    LabelledCase("monitored rates, gap of .4", 1, gap=0.4),
)


@dataclass(frozen=True)
class RoundsToLabel:
    """Number of labelled rounds, of answers of each group, and of labels."""

    rounds: int
    answers: int
    labels: int


class LabelledMonitorRow(TypedDict):
    """Shares of monitors of one case that alarmed in any round."""

    study: str
    gap: float
    monitors: int
    rounds: int
    labels_of_a_round: int
    alarmed_by_readings: float
    alarmed_by_labels: float
    at_most: float | None
    """Largest share explained by chance without a planted gap."""


async def labelled_monitors(
    settings: Settings, monitors: int, plan: RoundsToLabel
) -> list[LabelledMonitorRow]:
    """Run monitors of each case, label every round, and return a row for each case.

    Raises
    ------
    TransientError
        A round or a correction did not arrive in time.
    """
    names = {case.name: [model_name(case, n) for n in range(monitors)] for case in CASES}
    plants = {name: case.planted for case in CASES for name in names[case.name]}
    async with embedded_platform(
        settings, plants=plants, clock=fast_clock(), calls=CALLS
    ) as platform:
        client = GatewayClient(platform.url)
        try:
            suite = _in_sets(CASES[0].suite(plan.answers))
            await client.upload_suite(suite)
            await measurable(settings, suite)
            for case in CASES:
                for name in names[case.name]:
                    await client.apply_monitor(_declared(name, case, suite, plan.rounds))
            await rounds_added_up(settings, len(plants) * plan.rounds)
            return [await _row(client, case, names[case.name], plan) for case in CASES]
        finally:
            await client.close()


async def _row(
    client: GatewayClient, case: LabelledCase, names: Sequence[str], plan: RoundsToLabel
) -> LabelledMonitorRow:
    kinds_by_monitor = [await _labelled(client, case, name, plan.labels) for name in names]
    n = len(kinds_by_monitor)
    return {
        "study": case.name,
        "gap": case.gap,
        "monitors": n,
        "rounds": plan.rounds,
        "labels_of_a_round": plan.labels,
        "alarmed_by_readings": round(
            sum(AlarmKind.DISPARITY in kinds for kinds in kinds_by_monitor) / n, 3
        ),
        "alarmed_by_labels": round(
            sum(AlarmKind.LABELLED in kinds for kinds in kinds_by_monitor) / n, 3
        ),
        "at_most": None if case.gap else round(ALPHA + 3.5 * sqrt(ALPHA * (1 - ALPHA) / n), 3),
    }


async def _labelled(
    client: GatewayClient, case: LabelledCase, name: str, labels: int
) -> set[AlarmKind]:
    """Label a monitor's rounds in order; return the kinds of its alarms."""
    person = SimulatedPerson("person 0", case)
    for run in sorted(await runs_named(client, name, None), key=lambda run: run.at):
        truth, groups = await true_answers(client, run.run_id)
        body = {"feature": "rating", "group": "race", "wanted": len(groups) * labels}
        sample = (await drawn_sample(client, run.run_id, body)).sample
        labels_sent = [
            {"response_id": task["response_id"], "person": person.name,
             "value": person.says(task["response_id"], truth[task["response_id"]])}
            for task in await tasks_of(client, sample)
        ]  # fmt: skip
        await send_labels(client, sample, labels_sent)
        await corrected_gap(client, run.run_id)
    view = await client.monitor(name)
    return {alarm.what for alarm in view.alarms if alarm.state is AlarmState.RAISED}


def _in_sets(suite: Suite) -> Suite:
    """Return the same questions grouped into sets of twins."""
    twins = (
        probe.model_copy(update={"set": f"letter-{probe.key.rpartition('-')[2]}"})
        for probe in suite.probes
    )
    return suite.model_copy(update={"probes": tuple(twins)})


def _declared(name: str, case: LabelledCase, suite: Suite, rounds: int) -> dict[str, object]:
    low, high = case.bounds
    return {
        "name": name,
        "suite_hash": suite.hash,
        "target": f"simulator:{name}",
        "features": [
            {"extractor": "rating", "feature": "rating", "low": low, "high": high, **TOLERANCE}
        ],
        "comparisons": [{"dimension": "race", "a": "black", "b": "white"}],
        "cadence": HOUR_S,
        "deadline": "365d",
        "most_rounds": rounds,
    }
