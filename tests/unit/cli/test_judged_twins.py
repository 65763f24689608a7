"""Suites that ask a judge which of two twins' answers is warmer, and verdicts on its replies."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import biaswatch as bw
from biaswatch.cli.application import app
from biaswatch.exporting.judged_twins import Row, judged_pairs
from biaswatch.readers.suites import load_suite
from biaswatch.shared.contracts import Suite
from biaswatch.shared.errors import UsageError

NAMES = {"women": ("Emily", "Aisha"), "men": ("Greg", "Omar")}


def rows(sets: int = 2, target: str = "m") -> Iterator[Row]:
    """Yield two answers for each set and group, as `biaswatch export` writes them."""
    for number in range(sets):
        for group, names in NAMES.items():
            for origin, name in zip(("west", "east"), names, strict=True):
                messages = [{"role": "user", "content": f"Write to {name}, a woman I know."}]
                row = {
                    "key": f"{number}-{name}",
                    "set": f"s{number}",
                    "target": target,
                    "repeat": 0,
                    "groups.gender": group,
                    "groups.origin": origin,
                    "stimuli.name": name,
                    "messages": json.dumps(messages),
                    "text": f"Dear {name}, he said: <{number}>",
                }
                yield f"a.jsonl, line {number}", row


def suite(sets: int = 2) -> Suite:
    return judged_pairs(rows(sets), "gender", "warm", "warmer").suite


def test_each_pair_is_asked_in_both_orders_without_words_for_the_groups() -> None:
    probes = suite(1).probes
    assert [probe.groups["gender"] for probe in probes] == ["women", "men"] * 2
    assert {probe.set for probe in probes} == {"s0/men-women"}
    assert [probe.stimuli["name"] for probe in probes] == ["Aisha", "Omar", "Emily", "Greg"]
    for probe in probes:
        assert "Which one is warmer?" in str(probe.prompt)
        assert "> Dear [...], [...] said: <0>" in str(probe.prompt)
        words = set(re.findall(r"\w+", str(probe.prompt)))
        assert not words & {"Emily", "Greg", "Aisha", "Omar", "woman", "he"}


def test_answers_without_a_twin_are_counted() -> None:
    own = [*rows(1)][:3]  # two of women, one of men
    pairs = judged_pairs([*own, ("b", {"target": "m"})], "gender", "warm", "warmer")
    assert (len(pairs.suite.probes), pairs.left_out) == (2, 2)


SOUND = {"set": "s", "groups.gender": "men", "text": "x", "target": "m"}


@pytest.mark.parametrize(
    ("row", "target", "message"),
    [
        (dict(next(rows())[1], target="other"), None, "several targets .m, other."),
        (SOUND, "nosuch", "no answers of nosuch; the targets are m"),
        (5, None, "line 9: this is no row"),
        ({**SOUND, "text": 3}, None, "line 9: `text` must be a text"),
        ({**SOUND, "messages": "not json"}, None, "line 9: `messages` is not as"),
        ({**SOUND, "set": "s" * 300}, None, "line 9: `set` has more than 200"),
    ],
)
def test_odd_rows_are_refused_in_a_sentence(row: Any, target: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        judged_pairs([*rows(), ("a.jsonl, line 9", row)], "gender", "warm", "warmer", target)


def test_a_dimension_without_answers_or_without_twins_is_refused() -> None:
    with pytest.raises(UsageError, match="dimensions are gender, origin"):
        judged_pairs(rows(), "age", "warm", "warmer")
    with pytest.raises(UsageError, match="No set has answers of two groups"):
        judged_pairs([*rows()][:2], "gender", "warm", "warmer")


def replies(
    sets: int, rng: np.random.Generator, warmer: tuple[float, float], second_place: float
) -> pd.DataFrame:
    """Return replies of a judge; a share of them names the second place whatever is in it."""
    women, men = warmer
    frame = []
    for number in range(sets):
        preferred = rng.choice(["women", "men", "none"], p=[women, men, 1 - women - men])
        for group in NAMES:
            chosen = 2 if preferred == "none" else 3 if preferred == group else 1
            chosen = 3 if rng.random() < second_place else chosen
            frame.append({"set": number, "unit": f"{number}-{group}", "group": group, "v": chosen})
    return pd.DataFrame(frame)


@pytest.mark.parametrize(
    ("warmer", "second_place", "low", "high"),
    [((0.5, 0.15), 0.0, 0.8, 1.0), ((0.3, 0.3), 0.3, 0.0, 0.14), ((0.5, 0.15), 1.0, 0.0, 0.0)],
    ids=["planted", "placebo", "position alone"],
)
def test_planted_warmth_is_found_and_position_is_not(
    warmer: tuple[float, float], second_place: float, low: float, high: float
) -> None:
    rng = np.random.default_rng(7)
    ask: dict[str, Any] = {"group": "group", "feature": "v", "unit": "unit", "set": "set"}
    verdicts = [
        bw.diagnose(replies(60, rng, warmer, second_place), **ask, ranges={"v": (1, 3)})
        .comparisons.iloc[0]["same_treatment"]
        for _ in range(50)
    ]  # fmt: skip
    assert low <= np.mean([verdict == "differs" for verdict in verdicts]) <= high


def test_the_command_writes_a_suite_that_runs(tmp_path: Path) -> None:
    answers, own, folder = tmp_path / "a.jsonl", tmp_path / "formal.txt", tmp_path / "out"
    answers.write_text("".join(json.dumps(row) + "\n" for _, row in rows()))
    own.write_text("more formal\n")

    def make(criterion: str) -> Any:
        ask = ["--group", "gender", "--criterion", criterion, "-o", str(folder)]
        return CliRunner().invoke(app, ["suites", "pairs", str(answers), *ask])

    assert "8 questions about 4 pairs" in make(str(own)).stderr
    loaded = load_suite(folder)
    assert (loaded.name, len(loaded.probes)) == ("twins-formal", 8)
    assert "Which one is more formal?" in str(loaded.probes[0].prompt)
    assert "no criterion or file 'warmish'" in str(make("warmish").exception)
