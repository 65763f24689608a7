"""Plans of monitors: how many units, rounds, tokens and how much money, before the start."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from biaswatch.monitor_files import load_monitor
from biaswatch.monitor_plans import Assumed, Row, planned
from services.gateway.domain.traffic_monitors import declared
from shared.errors import UsageError

SETS = 10
PROMPT = "Describe the coast." * 2
PROBES = [
    {"key": f"{set_}-{group}", "set": f"s{set_}", "groups": {"concept": group}, "prompt": PROMPT}
    for set_ in range(SETS)
    for group in ("France", "Peru")
]
FEATURE = {"extractor": "words", "feature": "words", "high": 10}
PEOPLE = {"dimension": "concept", "a": "France", "b": "Peru"}
ASKS: dict[str, Any] = {
    "name": "coasts",
    "suite": "coasts.yaml",
    "target": "simulator:unbiased",
    "cadence": "6h",
    "features": [FEATURE],
    "comparisons": [PEOPLE],
}
LISTENS: dict[str, Any] = {
    "name": "coasts",
    "target": "traffic:guide",
    "window": "1h",
    "features": [FEATURE],
    "comparisons": [PEOPLE],
}
POPULATION = {"claim": "population", "sets_per_round": 2}


def rows(
    folder: Path, fields: dict[str, Any], assumed: Assumed, *others: dict[str, Any]
) -> list[Row]:
    suite_fields = {"name": "coasts", "extractors": ["words"], "probes": [*PROBES, *others]}
    (folder / "coasts.yaml").write_text(yaml.safe_dump(suite_fields))
    path = folder / "monitor.yaml"
    path.write_text(yaml.safe_dump(fields))
    asked, suite = load_monitor(path)
    return planned(declared(asked, suite), suite, assumed)


def test_a_plan_gives_units_rounds_tokens_and_money(tmp_path: Path) -> None:
    assumed = Assumed(effect=2.0, answer_tokens=100, prices=(1.0, 2.0))
    [row] = rows(tmp_path, ASKS, assumed)
    assert isinstance(row["units"], int)
    rounds = -(-row["units"] // SETS)
    assert row["rounds"] == rounds
    assert row["probes"] == rounds * 2 * SETS
    read = len(PROMPT) / 4
    assert row["tokens"] == pytest.approx(rounds * 2 * SETS * (read + 100), rel=0.01)
    assert row["cost"] == pytest.approx(rounds * 2 * SETS * (read + 200) / 1e6, abs=0.01)
    assert isinstance(row["looking_once"], int)
    assert row["looking_once"] < row["units"]


def test_a_smaller_gap_and_a_wider_spread_need_more_units(tmp_path: Path) -> None:
    def units(effect: float, sd: float) -> float:
        [row] = rows(tmp_path, ASKS, Assumed(effect, sd))
        assert row["cost"] is None
        return float(row["units"] or 0)

    assert units(2.0, 1.0) < units(1.0, 1.0) < units(1.0, 2.0)


def test_only_sets_with_both_groups_count_as_units_of_twins(tmp_path: Path) -> None:
    chile = {"key": "x", "set": "s0", "groups": {"concept": "Chile"}, "prompt": "?"}
    alone = {"key": "y", "set": "only", "groups": {"concept": "France"}, "prompt": "?"}
    fields = {
        **ASKS,
        "comparisons": [PEOPLE, {**PEOPLE, "b": None}, {**PEOPLE, "b": "Chile"}],
    }
    pair, rest, few = rows(tmp_path, fields, Assumed(effect=4.0), chile, alone)
    units = int(pair["units"] or 0)
    assert pair["rounds"] == rest["rounds"] == -(-units // SETS)
    assert few["rounds"] == units


def test_selections_are_planned_for_in_log_odds_from_the_share_that_is_selected(
    tmp_path: Path,
) -> None:
    def units(method: str, level: float | None) -> float:
        feature = {**FEATURE, "method": method, "selected_at_least": 5}
        fields = {**ASKS, **POPULATION, "features": [feature]}
        [row] = rows(tmp_path, fields, Assumed(effect=1.0, level=level))
        assert row["level"] == (0.5 if level is None else level)
        assert row["sd"] is None
        assert row["rounds"] == -(-int(row["units"] or 0) // 2)
        return float(row["units"] or 0)

    assert units("odds", None) == units("discordant", None)
    assert units("odds", 0.05) > 2 * units("odds", 0.5)


def test_groups_without_twins_are_planned_for_by_the_units_of_both(tmp_path: Path) -> None:
    fields = {**ASKS, **POPULATION, "features": [{**FEATURE, "method": "two_groups"}]}
    [row] = rows(tmp_path, fields, Assumed(effect=4.0))
    assert (row["sd"], row["level"]) == (2.5, 5.0)
    assert row["rounds"] == -(-int(row["units"] or 0) // 4)  # two sets, a unit on each side


def test_traffic_is_planned_for_by_users_and_windows_where_their_number_is_known(
    tmp_path: Path,
) -> None:
    [row] = rows(tmp_path, LISTENS, Assumed(effect=4.0, new_users=7))
    assert row["rounds"] == -(-int(row["units"] or 0) // 7)
    assert row["tokens"] is None
    [row] = rows(tmp_path, LISTENS, Assumed(effect=4.0, sd=2.0, level=1.0))
    assert (row["sd"], row["level"]) == (2.0, 1.0)
    assert row["rounds"] is None


def test_the_default_deviation_is_one_that_values_near_an_end_can_have(tmp_path: Path) -> None:
    [row] = rows(tmp_path, LISTENS, Assumed(effect=4.0, level=0.5))
    assert row["sd"] == pytest.approx((0.5 * 9.5) ** 0.5, abs=1e-3)


def test_one_of_several_features_can_be_planned_for_alone(tmp_path: Path) -> None:
    other = {"extractor": "refusal", "feature": "refused"}
    fields = {**ASKS, "features": [FEATURE, other]}
    [row] = rows(tmp_path, fields, Assumed(effect=0.5, feature="refusal.refused"))
    assert str(row["comparison"]).startswith("refusal.refused:")
    with pytest.raises(UsageError, match=r"no feature refusal\.words; it watches words\.words, re"):
        rows(tmp_path, fields, Assumed(effect=0.5, feature="refusal.words"))


@pytest.mark.parametrize(
    ("fields", "assumed", "said"),
    [
        ({"tolerance": 3}, Assumed(effect=2.0), "within the tolerance"),
        ({}, Assumed(effect=20.0), "an effect lies in"),
        ({"method": "two_groups"}, Assumed(effect=2.0, level=9.0), "mean lies within the range"),
        ({"method": "two_groups"}, Assumed(effect=2.0, sd=9.0), "have no deviation"),
        ({"method": "odds", "tolerance": 1}, Assumed(effect=0.5), "within the tolerance"),
        ({"method": "odds"}, Assumed(effect=0.5, level=3.0), "between 0 and 1"),
    ],
)
def test_what_cannot_be_planned_for_is_refused_in_a_sentence_with_the_features_name(
    tmp_path: Path, fields: dict[str, Any], assumed: Assumed, said: str
) -> None:
    claim = POPULATION if "method" in fields else {}
    feature = {**FEATURE, "selected_at_least": 5, **fields}
    with pytest.raises(UsageError, match=said) as refused:
        rows(tmp_path, {**ASKS, **claim, "features": [feature]}, assumed)
    assert str(refused.value).startswith("words.words: ")
    assert str(refused.value).endswith(".")
