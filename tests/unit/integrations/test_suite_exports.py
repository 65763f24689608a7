"""Suites that other tools can ask, and logs that become answers to replay."""

import json
from pathlib import Path

import pytest
import yaml

from biaswatch.integrations import lm_eval, replay
from biaswatch.integrations.formats import FORMATS, ExportRequest, formats_in_words
from biaswatch.integrations.suite_questions import suite_of_single_questions
from biaswatch.shared.errors import UsageError


def request(source: str, destination: Path) -> ExportRequest:
    return ExportRequest(source, str(destination), None, None)  # type: ignore[arg-type]


def test_a_suite_that_needs_several_calls_is_refused_in_a_sentence() -> None:
    with pytest.raises(UsageError, match="need several calls"):
        suite_of_single_questions("conversations")
    with pytest.raises(UsageError, match="consist of variables"):
        suite_of_single_questions("cv-hiring")


async def test_a_task_names_its_functions_and_the_version_of_its_suite(tmp_path: Path) -> None:
    message = await lm_eval.export(request("hiring-demo", tmp_path))
    suite = suite_of_single_questions("hiring-demo")

    class Loader(yaml.SafeLoader):
        """A loader of tasks."""

    Loader.add_constructor("!function", lambda _, node: ("function", node.value))
    task = yaml.load((tmp_path / "biaswatch_hiring_demo.yaml").read_text(), Loader)  # noqa: S506
    assert task["custom_dataset"] == ("function", "functions.questions")
    assert task["metadata"]["suite_hash"] == suite.hash
    assert "--tasks biaswatch_hiring_demo" in message
    rows = [json.loads(line) for line in (tmp_path / "questions.jsonl").read_text().splitlines()]
    assert [row["key"] for row in rows] == [probe.key for probe in suite.probes]


async def test_answers_without_text_are_counted_and_not_replayed(tmp_path: Path) -> None:
    log = tmp_path / "samples.jsonl"
    rows = [
        {"doc_id": n, "doc": {"key": f"k{n}"}, "resps": [[text]], "arguments": [["Q?", {}]]}
        for n, text in enumerate(("Yes.", ""))
    ]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    message = await replay.export(request(str(log), tmp_path / "answers.jsonl"))
    [line] = (tmp_path / "answers.jsonl").read_text().splitlines()
    assert json.loads(line) == {"key": "k0", "repeat": 0, "text": "Yes."}
    assert message.startswith("Wrote 1 answers")
    assert "Left out: rows without an answer" in message


async def test_a_log_without_keys_of_probes_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "samples.jsonl"
    log.write_text('{"doc_id": 1, "doc": {}, "resps": [["Yes."]]}\n')
    with pytest.raises(UsageError, match="key of a probe"):
        await replay.export(request(str(log), tmp_path / "answers.jsonl"))


def test_the_help_lists_every_format_and_each_has_its_function() -> None:
    assert all(f"--to {name}:" in formats_in_words() for name in FORMATS)
    assert all(callable(form.write) for form in FORMATS.values())
