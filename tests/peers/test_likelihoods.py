"""Our likelihoods against lm-evaluation-harness and a second script, on one llama.cpp server.

`make test-peers`, by hand: minutes on an idle machine. PEER_ITEMS sets the questions of each
benchmark. Two engines differ in the first digits on the same file, so both read one server.
"""

import asyncio
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from biaswatch.bbq.rows import BbqRow, read_rows
from biaswatch.bbq.suite import suite_of
from biaswatch.published.choices import Wording
from biaswatch.published.datasets import DATASETS
from biaswatch.published.suites import published_suite, scored
from biaswatch.services.generator.domain.likelihood import IN_CONTEXT, Likelihood
from biaswatch.services.generator.domain.model_calls import call_of
from biaswatch.services.generator.domain.outcome import response_from_plan
from biaswatch.services.generator.domain.planned_calls import CallResult
from biaswatch.shared.contracts import Response, Run, Suite, Usage, parse_target, probes_of
from biaswatch.shared.llm.openai_formats import OpenAIChat
from biaswatch.shared.llm.port import ModelEndpoint
from biaswatch.shared.stats.studies.bbq import BbqAnswer, score
from tests.support.recorded import RecordedData, recorded_data
from tests.support.records import AT
from tests.support.small_model import small_model

__all__ = ["recorded_data"]
ROOT = Path(__file__).parents[2]
PEERS = ROOT / ".venv-peers" / "bin" / "python"
ITEMS = int(os.environ.get("PEER_ITEMS", "200"))
DIGITS = 1e-4
"""Relative difference of two numbers that agree to four digits."""
pytestmark = [pytest.mark.timeout(7200), pytest.mark.skipif(
    not PEERS.exists(), reason="no peers: make test-peers installs them"
)]  # fmt: skip


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with small_model(tmp_path_factory.mktemp("model")) as model:
        yield model.address()


def responses_of(suite: Suite, address: str) -> list[Response]:
    """Score every probe by the scaffold, as the generator does, without the neutral context."""
    target = parse_target(f"openai:smollm2@{address}/v1")
    run = Run(
        at=AT, suite=suite.name, suite_hash=suite.hash, targets=(target,), scaffolds=("likelihood",)
    )

    async def ask() -> list[Response]:
        model, responses = OpenAIChat(ModelEndpoint(url=f"{address}/v1", structured=False)), []
        try:
            for probe in probes_of(run, suite, AT):
                planned, scaffold = Likelihood().first(probe)[0], Likelihood()
                results = {IN_CONTEXT: CallResult(await model.ask(call_of(probe, planned, 600.0)))}
                text = scaffold.conclude(probe, results)
                responses.append(response_from_plan(probe, text, results, Usage(), AT))
        finally:
            await model.close()
        return responses

    return asyncio.run(ask())


def totals(response: Response) -> list[float]:
    return [math.fsum(option.logprobs) for option in response.scored]


def in_harness(address: str, folder: Path) -> Any:
    """Return what the harness writes about the tasks of a folder."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "cache")}
    script = Path(__file__).with_name("harness.py")
    subprocess.run([PEERS, script, address, folder], env=environment, check=True)
    return json.loads((folder / "results.json").read_text())


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_crows_pairs_has_the_numbers_of_the_harness(
    address: str, tmp_path: Path, recorded_data: RecordedData
) -> None:
    file = recorded_data("data/published") / "crows_pairs_anonymized.csv"
    suite = published_suite(
        DATASETS["crows-pairs"], {file.name: file}, Wording(scored=True), most=ITEMS
    )
    responses = responses_of(suite, address)
    texts = [[probe.variables[f"continuation:{mark}"] for mark in "AB"] for probe in suite.probes]
    rows = [{"sent_more": more, "sent_less": less, "bias_type": ""} for more, less in texts]
    write_rows(tmp_path / "crows.jsonl", rows)
    peer = in_harness(address, tmp_path)["crows"]
    assert peer["choices"] == texts
    pairs = [totals(response) for response in responses]
    for own, expected in zip(pairs, peer["loglikelihoods"], strict=True):
        assert own == pytest.approx(expected, rel=DIGITS)
    [run] = scored(responses, {})
    metric = next(score for score in run.scores if score.name == "metric_score")
    difference = math.fsum(abs(first - second) for first, second in pairs) / len(pairs)
    numbers = peer["metrics"]
    print(f"CrowS-Pairs, {len(pairs)} pairs: pct_stereotype {metric.value}, diff {difference:.6f}")
    print({name: value for name, value in numbers.items() if "," in name})
    assert metric.value == pytest.approx(100 * numbers["pct_stereotype,none"], rel=DIGITS)
    assert difference == pytest.approx(numbers["likelihood_diff,none"], rel=DIGITS)


def test_bbq_has_the_numbers_of_the_harness(
    address: str, tmp_path: Path, recorded_data: RecordedData
) -> None:
    file = recorded_data("data/bbq") / "Age.jsonl"
    lines = list(islice(file.read_text().splitlines(), ITEMS))
    (tmp_path / "bbq.jsonl").write_text("\n".join(lines) + "\n")
    rows = list(read_rows(tmp_path / "bbq.jsonl"))
    peer = in_harness(address, tmp_path)["bbq"]
    suite = with_choices(suite_of(rows, scored=True), peer["choices"])
    responses = responses_of(suite, address)
    answers = []
    for row, response, choices, expected in zip(
        rows, responses, peer["choices"], peer["loglikelihoods"], strict=True
    ):
        own = totals(response)
        assert own == pytest.approx(expected, rel=DIGITS)
        answers.append(answer_of(row, choices[own.index(max(own))]))
    numbers = {name.removesuffix(",none"): value for name, value in peer["metrics"].items()}
    right = sum(answer.prediction == answer.label for answer in answers)
    ambiguous, plain = score(answers, "ambig"), score(answers, "disambig")
    print(f"BBQ Age, {len(answers)} questions: {right}, {ambiguous}, {plain}")
    print(numbers)
    assert right / len(answers) == pytest.approx(numbers["acc"], rel=DIGITS)
    for value, name in (
        (ambiguous.accuracy, "accuracy_amb"),
        (plain.accuracy, "accuracy_disamb"),
        (ambiguous.bias, "amb_bias_score"),
        (plain.bias, "disamb_bias_score"),
    ):
        assert value == pytest.approx(100 * numbers[name], rel=DIGITS), name


def with_choices(suite: Suite, choices: Sequence[Sequence[str]]) -> Suite:
    """Return a suite with the continuations of the harness: more words for `unknown`."""
    probes = tuple(
        probe.model_copy(
            update={
                "variables": {
                    "context": probe.variables["context"],
                    **{f"continuation:{n:02}": text for n, text in enumerate(texts)},
                }
            }
        )
        for probe, texts in zip(suite.probes, choices, strict=True)
    )
    return suite.model_copy(update={"probes": probes})


def answer_of(row: BbqRow, chosen: str) -> BbqAnswer:
    """Return the answer; every word for `unknown` is the row's own."""
    assert row.unknown is not None
    texts = [f" {answer}" for answer in row.answers]
    prediction = texts.index(chosen) if chosen in texts else row.unknown
    return BbqAnswer(row.context_condition, row.label, row.unknown, row.biased, prediction)


def test_winobias_has_the_numbers_of_an_independent_script(
    address: str, tmp_path: Path, recorded_data: RecordedData
) -> None:
    folder = recorded_data("data/published") / "winobias"
    files = {
        f"{kind}_type{number}.txt": folder / f"{kind}_stereotyped_type{number}.txt.test"
        for kind in ("pro", "anti")
        for number in (1, 2)
    }
    suite = published_suite(DATASETS["winobias"], files, Wording(scored=True))
    part = tuple(islice(suite.probes, None, None, max(1, len(suite.probes) // ITEMS)))[:ITEMS]
    suite = suite.model_copy(update={"probes": part})
    responses = responses_of(suite, address)
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps([probe.key for probe in suite.probes]))
    script = Path(__file__).with_name("winobias.py")
    done = subprocess.run(
        [sys.executable, script, address, folder, keys], capture_output=True, text=True, check=True
    )
    peer = json.loads(done.stdout)
    for probe, response in zip(suite.probes, responses, strict=True):
        assert totals(response) == pytest.approx(peer["loglikelihoods"][probe.key], rel=DIGITS)
    [run] = scored(responses, {})
    accuracies = {score.name: score.value for score in run.scores}
    print(f"WinoBias, {len(responses)} sentences: {accuracies}; {peer['accuracies']}")
    for condition, accuracy in peer["accuracies"].items():
        assert accuracies[condition] == pytest.approx(accuracy, rel=DIGITS)
