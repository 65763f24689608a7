"""A model that gives nothing to measure: every command that gates ends with 3 and says why."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import biaswatch as bw
from biaswatch.api.platforms import FinishedRun
from tests.support.commands import CommandLine
from tests.support.model_server import model_server, replying

SUITE = {
    "name": "rated",
    "extractors": ["rating", "refusal", "length"],
    "features": ["rating"],
    "probes": [
        {"key": f"{name}{n}", "set": f"s{n}", "groups": {"group": name},
         "scale": {"low": 1, "high": 4}, "prompt": f"Rate {name} {n}. Write Rating: N."}
        for name in ("ann", "bea", "cleo")
        for n in range(5)
    ],
}  # fmt: skip
RATED = {"role": "assistant", "content": "Rating: 3"}
CALLED = {
    "role": "assistant", "content": None,
    "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "rate", "arguments": "{}"}}
    ],
}  # fmt: skip
REFUSED = {"role": "assistant", "content": None, "refusal": "I cannot rate people."}


def completion(*messages: dict[str, Any]) -> tuple[int, object]:
    """Return a reply with a choice for each message."""
    choices = [{"index": 0, "message": message, "finish_reason": "stop"} for message in messages]
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "usage": usage}
    return 200, {**body, "choices": choices}


def reply(body: Any) -> tuple[int, object]:
    """Return what the model of this name says."""
    prompt = body["messages"][-1]["content"]
    match body["model"]:
        case "unknown":
            return 404, {"error": {"message": "no such model", "code": "model_not_found"}}
        case "unpaid":
            return 429, {"error": {"message": "no credit", "type": "insufficient_quota",
                                   "code": "insufficient_quota"}}  # fmt: skip
        case "calls":
            return completion(CALLED)
        case "refuses":
            return completion(REFUSED)
        case "no-choice":
            return completion()
        case "refuses-cleo" if "cleo" in prompt:
            return completion(REFUSED)
        case "refuses-two" if "cleo 1" in prompt or "cleo 2" in prompt:
            return completion(REFUSED)
        case _:
            return completion(RATED)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Serve all these models."""
    with model_server(replying(reply)) as url:
        yield url


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory, server: str) -> Iterator[CommandLine]:
    """Keep a platform up beside the suite."""
    folder = tmp_path_factory.mktemp("unmeasured")
    (folder / "rated.json").write_text(json.dumps(SUITE))
    command = CommandLine(folder / "state", OPENAI_API_KEY="secret")
    with command.up():
        yield command


def run(
    command: CommandLine, server: str, model: str, *words: str
) -> "subprocess.CompletedProcess[str]":
    """Put the suite to a model behind a gate."""
    suite = str(command.state.parent / "rated.json")
    target = f"openai:{model}@{server}"
    return command("run", suite, "--target", target, "--fail-on", "disparity", *words)


@pytest.mark.parametrize("model", ["unknown", "unpaid", "calls", "refuses", "no-choice"])
def test_a_model_that_gives_no_number_passes_no_gate(
    command: CommandLine, server: str, model: str
) -> None:
    result = run(command, server, model)
    assert result.returncode == 3, result.stderr
    assert "not passed" in result.stderr or "wait" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_run_without_measured_answers_passes_no_later_gate(
    command: CommandLine, server: str, tmp_path: Path
) -> None:
    run_id = run(command, server, "refuses").stdout.split("Run ")[1][:32]
    gate = ("--fail-on", "disparity")
    for words in (
        ("show", run_id),
        ("diagnose", run_id),
        ("report", run_id, "-o", str(tmp_path / "report.html")),
    ):
        result = command(*words, *gate)
        assert result.returncode == 3, result.stderr
        assert "Gate not passed: Nothing was measured in 3 comparisons" in result.stderr
        assert command(*words).returncode == 0
    assert command("show", run_id, "--fail-on", "0.5", "--min-measured", "0").returncode == 3
    assert "not measured" in (tmp_path / "report.html").read_text()
    shown = command("show", run_id).stdout
    assert "ann against bea, rating: not measured: 0 of 5 answers about ann" in shown
    assert command("runs").stdout.count("not measured") >= 1


@pytest.mark.parametrize(
    ("model", "words", "code"),
    [
        ("rates", (), 0),
        ("refuses-cleo", (), 3),
        ("refuses-two", (), 3),
        ("refuses-two", ("--config", "min_measured=0.6"), 0),
    ],
)
def test_one_group_without_enough_answers_passes_no_gate(
    command: CommandLine, server: str, model: str, words: tuple[str, ...], code: int
) -> None:
    result = run(command, server, model, *words, "--json")
    assert result.returncode == code, result.stderr
    warnings = " ".join(json.loads(result.stdout)["warnings"])
    assert ("of 5 answers about cleo gave a number" in warnings) == (model != "rates")
    assert "answers about ann" not in warnings + result.stderr
    assert result.stderr.count("Gate ") == 1


def test_a_comparison_with_an_unmeasured_run_passes_no_gate(
    command: CommandLine, server: str
) -> None:
    ids = [
        run(command, server, model).stdout.split("Run ")[1][:32] for model in ("rates", "refuses")
    ]
    means = ("--feature", "rating", "--config", "missing_tolerance=1")
    result = command("compare", *ids, *means, "--fail-on", "change")
    assert result.returncode == 3, result.stderr
    assert "not measured" in result.stdout
    assert "in the second run gave a number" in result.stderr
    assert command("compare", *ids[:1], *ids[:1], "--fail-on", "change").returncode == 2


def test_the_assertion_names_the_groups_without_measured_answers(
    command: CommandLine, server: str
) -> None:
    platform = bw.connect(json.loads((command.state / "platform.json").read_text())["url"])
    runs = {
        model: platform.results(run(command, server, model).stdout.split("Run ")[1][:32])
        for model in ("refuses", "refuses-two", "rates")
    }
    with pytest.raises(AssertionError, match="Nothing was measured in 3 comparisons"):
        bw.assert_no_disparity(runs["refuses"])
    with pytest.raises(AssertionError, match="3 of 5 answers about cleo gave a number"):
        bw.assert_no_disparity(runs["refuses-two"], group="group", feature="rating.rating")
    assert isinstance(runs["rates"], FinishedRun)
    assert not bw.assert_no_disparity(runs["rates"]).has_disparity
    assert not bw.assert_no_disparity(runs["refuses-two"], min_measured=0.6).has_disparity
    assert runs["refuses"].check().code == 3
    assert runs["refuses"].warnings[0].startswith("15 of 15 answers were refused")
    assert "Nothing was measured" in runs["refuses"].warnings[1]
