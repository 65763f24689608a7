"""`biaswatch diagnose RUN`: the numbers of its findings, any field as a group, any gateway."""

import asyncio
import csv
import json
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import httpx2
import pytest

from biaswatch.services.diagnoser.handlers import DiagnoseRun
from biaswatch.services.diagnoser.handlers.labels import CorrectByLabels
from biaswatch.shared.analysis.findings import AnalysisPlan
from biaswatch.shared.contracts import Claim, Features, Run, Suite, probes_of
from biaswatch.shared.contracts.completion import ClosedBy
from biaswatch.shared.store import Store, migrate
from tests.support.commands import CommandLine
from tests.support.labelled_run import JUDGE, SUITE, labelled, write_labelled_run
from tests.support.measured_runs import AT, make_measured_run, make_suite, write_measured_run
from tests.support.records import make_completion, make_run
from tests.support.waiting import PATIENCE_S


def _diagnosed(store: Store, suite: Suite) -> Run:
    """Write a measured run and its findings, as the diagnoser makes them."""
    run = make_measured_run(suite)
    write_measured_run(store, run, suite)
    completion = make_completion(run_id=run.id, closed_by=ClosedBy.DEADLINE)
    findings = DiagnoseRun(store, now=lambda: AT, plan=AnalysisPlan())(completion, run)
    store.records.write([completion, *findings])
    return run


def _labelled(store: Store) -> None:
    """Write a run whose instrument errs for one group, with labels and what comes of them."""
    run, truth = write_labelled_run(store)
    labelled(store, run, truth, wanted=160)
    correct = CorrectByLabels(store, now=lambda: AT, plan=AnalysisPlan())
    store.records.write(correct.corrected(run))


TOKEN = "reader"
SUITES = {claim: make_suite(claim, sets=14) for claim in Claim}
RUNS = {claim: make_measured_run(suite) for claim, suite in SUITES.items()}


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    """Keep a platform up whose store has a run of each claim."""
    state = tmp_path_factory.mktemp("state")
    url = f"sqlite:///{state / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        for suite in SUITES.values():
            _diagnosed(store, suite)
        _labelled(store)
    command_line = CommandLine(state, BIASWATCH_GATEWAY_READ_TOKEN=TOKEN, BIASWATCH_TOKEN=TOKEN)
    with command_line.up():
        yield command_line


def diagnosed(command: CommandLine, *words: str) -> Any:
    result = command(*words, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def numbers_of_findings(diagnoses: list[dict[str, Any]]) -> dict[tuple[str, ...], dict[str, Any]]:
    """Return the numbers of each comparison of a run's findings, by what is compared."""
    return {
        (diagnosis["target"], diagnosis["feature"], diagnosis["dimension"], gap["a"], gap["b"]): {
            "gap": gap["gap"]["value"],
            "ci": None if gap["gap"]["low"] is None else [gap["gap"]["low"], gap["gap"]["high"]],
            "method": gap["gap"]["method"],
            "p_value": gap["p_value"],
            "p_adjusted": gap["p_adjusted"],
            "verdict": gap["verdict"],
        }
        for diagnosis in diagnoses
        for gap in diagnosis["gaps"]
    }


def numbers_of_table(table: dict[str, Any]) -> dict[tuple[str, ...], dict[str, Any]]:
    """Return the same numbers of `diagnose`."""
    names = ("gap", "ci", "method", "p_value", "p_adjusted", "verdict")
    return {
        (c["domain"], c["feature"], c["dimension"], c["a"], c["b"]): {n: c[n] for n in names}
        for c in table["comparisons"]
    }


def means_of_findings(diagnoses: list[dict[str, Any]]) -> dict[tuple[str, ...], Any]:
    """Return each group's mean with its interval, units and missing answers, by a run."""
    return {
        (diagnosis["target"], diagnosis["feature"], diagnosis["dimension"], group["group"]): (
            group["mean"]["value"],
            [group["mean"]["low"], group["mean"]["high"]],
            group["mean"]["method"],
            group["missing"],
        )
        for diagnosis in diagnoses
        for group in diagnosis["groups"]
    }


def means_of_table(table: dict[str, Any]) -> dict[tuple[str, ...], Any]:
    """Return the same numbers of `diagnose`."""
    return {
        (row["domain"], row["feature"], *next(iter(row["group"].items()))): (
            row["value"], row["ci"], row["ci_method"], row["n_missing"],
        )
        for row in table["summary"]
        if row["statistic"] == "mean" and len(row["group"]) == 1
    }  # fmt: skip


def exported(command: CommandLine, run: Run, path: Path) -> None:
    """Write the measurements of a run as a table, to the last digit."""
    with Store.open(f"sqlite:///{command.state / 'store.db'}") as store:
        measured = {
            (record.probe_id, record.extractor): record
            for record in store.records.read(Features, run_id=run.id)
        }
    rows = []
    for probe in probes_of(run, SUITES[_claim_of(run)], AT):
        row = {"target": probe.target.name, "prompt": probe.unit_id, "set": probe.set_id}
        row |= probe.groups
        for extractor in ("vader", "words"):
            measurement = measured.get((probe.id, extractor))
            row |= {n: repr(v) for n, v in (measurement.values if measurement else {}).items()}
        rows.append(row)
    with path.open("w", newline="") as file:
        names = ["target", "prompt", "set", "race", "gender"]
        features = ["sentiment", "words", "words_per_sentence"]
        writer = csv.DictWriter(file, [*names, *features], restval="")
        writer.writeheader()
        writer.writerows(rows)


def _claim_of(run: Run) -> Claim:
    return next(claim for claim, claim_run in RUNS.items() if claim_run.id == run.id)


@pytest.mark.parametrize("claim", list(Claim))
def test_findings_run_table_and_api_give_the_same_numbers_to_the_last_digit(
    command: CommandLine, tmp_path: Path, claim: Claim
) -> None:
    run = RUNS[claim]
    exported(command, run, tmp_path / "run.csv")
    findings = diagnosed(command, "show", run.id)["diagnoses"]
    report = json.loads(command("report", run.id, "--format", "json").stdout)
    of_run = diagnosed(command, "diagnose", run.id)
    of_table = diagnosed(
        command, "diagnose", str(tmp_path / "run.csv"), "--group", "race", "--group", "gender",
        "--feature", "sentiment", "--feature", "words", "--feature", "words_per_sentence",
        "--unit", "prompt", "--set", "set", "--config", "domain=target",
        "--config", f"claim={claim.value}",
    )  # fmt: skip
    shown, means = numbers_of_findings(findings), means_of_findings(findings)
    assert len(means) == 2 * 3 * (3 + 2)  # targets, features, races and genders
    assert len(shown) == 2 * 3 * (3 + 1)  # targets, features, pairs of races and of genders
    assert any(numbers["p_value"] is not None for numbers in shown.values())
    assert numbers_of_findings(report["diagnoses"]) == shown
    assert numbers_of_table(of_run) == numbers_of_table(of_table) == shown
    assert means_of_table(of_run) == means_of_table(of_table) == means
    assert of_run["about"]["family"] == of_table["about"]["family"] == findings[0]["family"]
    assert asyncio.run(_over_http(command, run)) == findings


async def _over_http(command: CommandLine, run: Run) -> Any:
    url = json.loads((command.state / "platform.json").read_text())["url"]
    async with httpx2.AsyncClient(base_url=url, timeout=PATIENCE_S) as client:
        reply = await client.get(
            f"/v1/runs/{run.id}/diagnoses", headers={"Authorization": f"Bearer {TOKEN}"}
        )
        return reply.json()


def test_any_field_of_a_probe_is_a_group_and_every_statistic_is_there(command: CommandLine) -> None:
    run = RUNS[Claim.POPULATION]
    diagnosis = diagnosed(
        command, "diagnose", run.id, "--group", "source", "--group", "facts.keyword",
        "--feature", "vader.sentiment", "--config", "target=simulator:m1",
        "--config", "statistic=skewness",
    )  # fmt: skip
    sources = [c for c in diagnosis["comparisons"] if c["dimension"] == "source"]
    assert [(c["a"], c["b"]) for c in sources] == [("source-0", "source-1")]
    assert {row["statistic"] for row in diagnosis["summary"]} == {"skewness"}
    assert {row["domain"] for row in diagnosis["summary"]} == {None}
    assert diagnosis["about"]["rows"] == len(SUITES[Claim.POPULATION].probes) * run.repeats


def test_calibrated_values_are_those_less_their_baselines(
    command: CommandLine, tmp_path: Path
) -> None:
    run = RUNS[Claim.POPULATION]
    with Store.open(f"sqlite:///{command.state / 'store.db'}") as store:
        measured = {
            features.probe_id: value - base
            for features in store.records.read(Features, run_id=run.id)
            if features.extractor == "vader"
            if (value := features.values.get("sentiment")) is not None
            if (base := features.baseline.get("sentiment")) is not None
        }
    by_race: dict[str, dict[str, list[float]]] = {}
    for probe in probes_of(run, SUITES[Claim.POPULATION], AT):
        if probe.target.name == "simulator:m0" and (own := measured.get(probe.id)) is not None:
            units = by_race.setdefault(probe.groups["race"], {})
            units.setdefault(probe.unit_id, []).append(own)
    means = {race: fmean(map(fmean, units.values())) for race, units in by_race.items()}
    diagnosis = diagnosed(
        command, "diagnose", run.id, "--config", "calibrate=true", "--group", "race",
        "--feature", "sentiment",
        "--config", "target=simulator:m0", "--config", "statistic=mean",
    )  # fmt: skip
    assert diagnosis["about"]["calibrated"] is True
    for row in diagnosis["summary"]:
        assert row["value"] == pytest.approx(means[row["group"]["race"]], abs=1e-12)


def test_people_read_units_domains_and_why_answers_are_missing(
    command: CommandLine, tmp_path: Path
) -> None:
    run = RUNS[Claim.BANK]
    result = command("diagnose", run.id, "--feature", "sentiment", "--group", "race")
    text = " ".join(result.stdout.split())
    assert "84 units in 336 rows." in text
    assert "about these prompts alone" in text
    assert "simulator:m0, asian - black" in text
    assert "12 did not arrive, 47 refused" in text
    out = command("diagnose", run.id, "--config", f"output={tmp_path / 'run.parquet'}")
    assert out.returncode == 0, out.stderr
    assert (tmp_path / "run.parquet").exists()


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--group", "age"], 2, "has no field 'age'. Known fields: key, target, scaffold"),
        (["--feature", "rating"], 2, "has no feature 'rating'. Known features: sentiment, words"),
        (
            ["--config", "target=m9"],
            2,
            "has no target 'm9'. Known targets: simulator:m0, simulator:m1",
        ),
        (["--config", "baseline=x"], 2, "set `calibrate`, without `baseline`"),
        (["--server", "http://127.0.0.1:9"], 3, "does not answer"),
        (["--fail-on", "disparity"], 1, ""),
    ],
)
def test_what_cannot_be_asked_of_a_run_is_one_sentence(
    command: CommandLine, words: list[str], code: int, sentence: str
) -> None:
    result = command("diagnose", RUNS[Claim.POPULATION].id, *words)
    assert result.returncode == code, result.stderr
    assert sentence in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_a_run_that_is_not_there_and_options_of_runs_for_tables_are_said(
    command: CommandLine, tmp_path: Path
) -> None:
    assert "There is no run ffff" in command("diagnose", "f" * 32).stderr
    (tmp_path / "t.csv").write_text("g,x\na,1\nb,2\n")
    columns = ("--group", "g", "--feature", "x")
    result = command("diagnose", str(tmp_path / "t.csv"), *columns, "--config", "target=t")
    assert "are for a run, not for a table" in result.stderr
    assert "--group and --feature" in command("diagnose", str(tmp_path / "t.csv")).stderr


def test_a_run_of_a_state_directory_is_read_without_a_platform_that_is_up(tmp_path: Path) -> None:
    suite = make_suite(sets=2)
    state = tmp_path / "state"
    url = f"sqlite:///{state / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        run = _diagnosed(store, suite)
    alone = CommandLine(state)
    shown = numbers_of_findings(diagnosed(alone, "show", run.id)["diagnoses"])
    assert numbers_of_table(diagnosed(alone, "diagnose", run.id)) == shown


def test_a_gateway_elsewhere_shows_a_run_to_whoever_may_read(
    command: CommandLine, tmp_path: Path
) -> None:
    url = json.loads((command.state / "platform.json").read_text())["url"]
    run, elsewhere = RUNS[Claim.POPULATION], CommandLine(tmp_path / "elsewhere")
    words = ("diagnose", run.id, "--feature", "sentiment", "--server", url)
    diagnosis = diagnosed(elsewhere, *words, "--token", TOKEN)
    assert diagnosis["comparisons"] == diagnosed(command, *words)["comparisons"]
    refused = elsewhere(*words, "--token", "guess")
    assert refused.returncode == 2
    assert "BIASWATCH_TOKEN" in refused.stderr
    assert not (tmp_path / "elsewhere").exists()


def labelled_run_id() -> str:
    pins = ({"name": JUDGE.name, "version": JUDGE.version},)
    return make_run(suite=SUITE.name, suite_hash=SUITE.hash, extractors=pins).id


def test_what_labels_make_of_a_runs_findings_stands_beside_the_readings(
    command: CommandLine,
) -> None:
    run_id = labelled_run_id()
    diagnosis = diagnosed(command, "diagnose", run_id)
    [by_readings] = diagnosis["comparisons"]
    assert by_readings["verdict"] == "disparity"
    [row] = diagnosis["corrections"]
    assert row["by_readings"] == pytest.approx(by_readings["gap"])
    assert row["verdict"] == "inconclusive"
    low, high = row["ci"]
    assert low < 0 < high
    low, high = row["ratio_ci"]
    assert low < 1 < high
    assert row["ratio_by_readings"] < 0.8
    output = command("diagnose", run_id).stdout
    assert "as labels of people correct them" in output
    assert "by the reading of judge" in output


def test_without_labels_it_is_said_that_all_is_so_by_the_reading_of_an_instrument(
    command: CommandLine,
) -> None:
    run_id = RUNS[Claim.BANK].id
    assert diagnosed(command, "diagnose", run_id)["corrections"] == []
    output = " ".join(command("diagnose", run_id).stdout.split())
    assert "this run has no labels" in output
    assert "by the reading of" in output
