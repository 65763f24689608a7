"""What the provider says of a rejected run: on the terminal, once, and how the run goes on."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import CommandLine
from tests.support.model_server import model_server, replying

SENTENCE = "The model `absent` does not exist"
REJECTION = 404, {"error": {"message": SENTENCE, "code": "model_not_found"}}
RATING = {"choices": [{"message": {"content": "Rating: 3"}, "finish_reason": "stop"}]}
PROMPTS = 120


class Provider:
    """Rejects calls until its model exists; counts how often it is asked each question."""

    def __init__(self) -> None:
        self.exists = False
        self.asked: Counter[str] = Counter()
        self.parameters: dict[str, Any] = {}

    def reply(self, body: dict[str, Any]) -> tuple[int, object]:
        self.asked[body["messages"][-1]["content"]] += 1
        self.parameters = {name: body[name] for name in body.keys() - {"messages", "model"}}
        return (200, RATING) if self.exists else REJECTION


@pytest.fixture
def provider() -> Provider:
    return Provider()


@pytest.fixture
def url(provider: Provider) -> Iterator[str]:
    with model_server(replying(provider.reply)) as base_url:
        yield base_url


def suite(folder: Path, prompts: int) -> str:
    probes = [
        {"key": f"p{n}", "set": f"s{n // 2}", "groups": {"grp": "ab"[n % 2]},
         "scale": {"low": 1, "high": 4}, "prompt": f"Rate applicant {n}."}
        for n in range(prompts)
    ]  # fmt: skip
    path = folder / "suite.json"
    path.write_text(json.dumps({"name": "s", "extractors": ["rating"], "probes": probes}))
    return str(path)


def test_a_rejected_run_stops_early_and_the_same_command_asks_all_once_it_can(
    tmp_path: Path, provider: Provider, url: str
) -> None:
    command = CommandLine(tmp_path / "state").without("_API_KEY")
    words = ("run", suite(tmp_path, PROMPTS), "--target", f"openai:absent@{url}?top_k=40")
    first = command(*words)
    assert first.returncode == 3, first.stderr
    shown = " ".join(first.stdout.split())
    assert shown.count(SENTENCE) == 1
    assert f"{PROMPTS} of {PROMPTS} prompts were not asked, or were rejected" in shown
    assert provider.asked.total() < PROMPTS
    assert provider.parameters == {"top_k": 40}
    provider.exists = True
    again = command(*words, "--json")
    assert again.returncode == 0, again.stderr
    run = json.loads(again.stdout)["run"]
    assert (run["state"], run["responses"], run["unanswered"]) == ("complete", PROMPTS, [])


def test_a_short_run_that_is_rejected_shows_the_sentence_once(
    tmp_path: Path, provider: Provider, url: str
) -> None:
    command = CommandLine(tmp_path / "state").without("_API_KEY")
    result = command("run", suite(tmp_path, 4), "--target", f"openai:absent@{url}")
    shown = " ".join(result.stdout.split())
    assert shown.count(SENTENCE) == 1
    assert f"openai:absent@{url} gave no answer to 4 prompts (bad request)." in shown
    assert set(provider.asked.values()) == {1}
