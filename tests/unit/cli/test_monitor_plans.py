"""Plans of monitors: how many units, rounds, tokens and how much money, before the start."""

from math import ceil
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from biaswatch.cli.application import app
from biaswatch.planning.monitor_assumptions import MonitorAssumptions
from biaswatch.planning.monitors import Row, explained, planned
from biaswatch.readers.suites import load_monitor
from biaswatch.shared.analysis.monitors.plans import AskedSets, plan_of, upkeep_of
from biaswatch.shared.errors import UsageError

SETS = 10
PROMPT = "Describe the coast." * 2
Probes = list[dict[str, Any]]


def twins(sets: int) -> Probes:
    return [
        {"key": f"{n}-{group}", "set": f"s{n}", "groups": {"concept": group}, "prompt": PROMPT}
        for n in range(sets)
        for group in ("France", "Peru")
    ]


def people(group: str, count: int) -> Probes:
    """Return probes without twins."""
    return [
        {"key": f"{group}{n}", "groups": {"concept": group}, "prompt": PROMPT} for n in range(count)
    ]


FEATURE = {"extractor": "words", "feature": "words", "high": 10, "tolerance": 0}
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
SELECTS = {
    **ASKS,
    **POPULATION,
    "features": [{**FEATURE, "method": "odds", "selected_at_least": 5}],
}


def rows(
    folder: Path, fields: dict[str, Any], assumed: MonitorAssumptions, probes: Probes | None = None
) -> list[Row]:
    probes = twins(SETS) if probes is None else probes
    suite_fields = {"name": "coasts", "extractors": ["words"], "probes": probes}
    (folder / "coasts.yaml").write_text(yaml.safe_dump(suite_fields))
    path = folder / "monitor.yaml"
    path.write_text(yaml.safe_dump(fields))
    asked, suite = load_monitor(path)
    sets = AskedSets.of_suite(suite) if suite else None
    return planned(plan_of(asked, sets), upkeep_of(asked), suite, assumed)


def test_a_plan_gives_units_rounds_tokens_and_money(tmp_path: Path) -> None:
    assumed = MonitorAssumptions(effect=2.0, answer_tokens=100, prices=(1.0, 2.0))
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


def test_no_number_of_rounds_shows_more_than_few_names(tmp_path: Path) -> None:
    named = [{**probe, "stimuli": {"name": f"{n % 8}"}} for n, probe in enumerate(twins(SETS))]
    declared = {**ASKS, "random": ["name"]}
    [row] = rows(tmp_path, declared, MonitorAssumptions(effect=2.0), named)
    numbers = ("units", "looking_once", "rounds", "probes", "tokens", "cost")
    assert [row[number] for number in numbers] == [None] * 6
    assert "needs at least 9 blocks of sets that share no name" in str(row["why"])
    assert "the suite has 4." in str(row["why"])
    text = explained([row], traffic=False)
    assert "With these units" not in text
    assert "`random: []`" in text
    [about_these] = rows(
        tmp_path, {**declared, "random": []}, MonitorAssumptions(effect=2.0), named
    )
    assert about_these["rounds"]
    assert about_these["why"] is None


def test_a_smaller_gap_and_a_wider_spread_need_more_units(tmp_path: Path) -> None:
    def units(effect: float, sd: float) -> float:
        [row] = rows(tmp_path, ASKS, MonitorAssumptions(effect, sd))
        assert row["cost"] is None
        return float(row["units"] or 0)

    assert units(2.0, 1.0) < units(1.0, 1.0) < units(1.0, 2.0)


def test_only_sets_with_both_groups_count_as_units_of_twins(tmp_path: Path) -> None:
    chile = {"key": "x", "set": "s0", "groups": {"concept": "Chile"}, "prompt": "?"}
    alone = {"key": "y", "set": "only", "groups": {"concept": "France"}, "prompt": "?"}
    fields = {**ASKS, "comparisons": [PEOPLE, {**PEOPLE, "b": None}, {**PEOPLE, "b": "Chile"}]}
    pair, rest, few = rows(
        tmp_path, fields, MonitorAssumptions(effect=4.0), [*twins(SETS), chile, alone]
    )
    units = int(pair["units"] or 0)
    assert pair["rounds"] == rest["rounds"] == -(-units // SETS)
    assert few["rounds"] == units


def test_selections_are_planned_for_in_log_odds_from_the_share_that_is_selected(
    tmp_path: Path,
) -> None:
    sets = 150

    def units(method: str, level: float | None) -> float:
        feature = {**FEATURE, "method": method, "selected_at_least": 5}
        fields = {**ASKS, **POPULATION, "features": [feature]}
        [row] = rows(tmp_path, fields, MonitorAssumptions(effect=1.0, level=level), twins(sets))
        assert row["level"] == (0.5 if level is None else level)
        assert row["sd"] is None
        needed = -(-int(row["units"] or 0) // 2)
        assert row["rounds"] == (needed if needed <= sets // 2 else None)
        return float(row["units"] or 0)

    assert units("odds", None) == units("discordant", None)
    assert units("odds", 0.05) > 2 * units("odds", 0.5)


def test_groups_without_twins_are_planned_for_by_the_units_of_both(tmp_path: Path) -> None:
    fields = {**ASKS, **POPULATION, "features": [{**FEATURE, "method": "two_groups"}]}
    [row] = rows(tmp_path, fields, MonitorAssumptions(effect=4.0), twins(40))
    assert (row["sd"], row["level"]) == (2.5, 5.0)
    assert row["rounds"] == -(-int(row["units"] or 0) // 4)  # two sets, a unit on each side


def test_traffic_is_planned_for_by_users_and_windows_where_their_number_is_known(
    tmp_path: Path,
) -> None:
    [row] = rows(tmp_path, LISTENS, MonitorAssumptions(effect=4.0, new_users=7))
    assert row["rounds"] == -(-int(row["units"] or 0) // 7)
    assert row["tokens"] is None
    [row] = rows(tmp_path, LISTENS, MonitorAssumptions(effect=4.0, sd=2.0, level=1.0))
    assert (row["sd"], row["level"]) == (2.0, 1.0)
    assert row["rounds"] is None


def test_the_default_deviation_of_each_group_is_one_that_values_near_an_end_can_have(
    tmp_path: Path,
) -> None:
    [row] = rows(tmp_path, LISTENS, MonitorAssumptions(effect=4.0, level=0.5))
    assert row["sd"] == pytest.approx((0.5 * 9.5) ** 0.5, abs=1e-3)
    assert row["sd_first"] == 2.5
    [row] = rows(tmp_path, ASKS, MonitorAssumptions(effect=9.9))
    assert row["sd"] == pytest.approx((10**2 - 9.9**2) ** 0.5, abs=1e-3)


def test_a_group_that_never_does_it_can_be_planned_for(tmp_path: Path) -> None:
    [row] = rows(tmp_path, LISTENS, MonitorAssumptions(effect=8.0, level=0.0))
    assert (row["sd_first"], row["sd"]) == (2.5, 0.0)
    assert int(row["units"] or 0) > 0


def test_binary_answers_deviate_as_their_levels_say(tmp_path: Path) -> None:
    refusal = {"extractor": "refusal", "feature": "refused", "tolerance": 0}
    assumed = MonitorAssumptions(effect=0.6, level=0.1, binary=True)
    [row] = rows(tmp_path, {**LISTENS, "features": [refusal]}, assumed)
    assert row["sd_first"] == pytest.approx((0.7 * 0.3) ** 0.5, abs=1e-3)
    assert row["sd"] == pytest.approx((0.1 * 0.9) ** 0.5, abs=1e-3)
    [row] = rows(tmp_path, {**ASKS, "features": [refusal]}, assumed)
    assert row["sd"] == pytest.approx((0.7 * 0.3 + 0.1 * 0.9) ** 0.5, abs=1e-3)
    assert (row["sd_first"], row["level"]) == (None, 0.1)


def test_users_who_come_rarely_or_in_unequal_groups_are_needed_in_larger_numbers(
    tmp_path: Path,
) -> None:
    def units(**assumed: float) -> int:
        given = {"effect": 2.0, "level": 3.0, "new_users": 160, **assumed}
        [row] = rows(tmp_path, LISTENS, MonitorAssumptions(**given))  # type: ignore[arg-type]
        return int(row["units"] or 0)

    assert units(first_share=0.1) > 1.8 * units()
    assert units(strata=80) > 1.3 * units()


def test_probes_without_a_set_are_sets_by_themselves(tmp_path: Path) -> None:
    fields = {
        **ASKS, "claim": "population", "sets_per_round": 10,
        "features": [{**FEATURE, "method": "two_groups"}],
    }  # fmt: skip
    alone = [*people("France", 40), *people("Peru", 40)]
    [row] = rows(tmp_path, fields, MonitorAssumptions(effect=6.0, level=2.0), alone)
    rounds = -(-int(row["units"] or 0) // 10)
    assert (row["rounds"], row["probes"]) == (rounds, rounds * 10)
    [row] = rows(
        tmp_path,
        fields,
        MonitorAssumptions(effect=6.0, level=2.0),
        [*twins(20), *alone[:10], *alone[-10:]],
    )
    # Of 40 sets, 20 have a unit on both sides: a round of 10 brings 15 units by 15 probes.
    rounds = -(-int(row["units"] or 0) // 15)
    assert (row["rounds"], row["probes"]) == (rounds, rounds * 15)


def test_groups_of_different_sizes_bring_less_than_as_many_of_the_same(tmp_path: Path) -> None:
    fields = {
        **ASKS, "claim": "population", "sets_per_round": 20,
        "features": [{**FEATURE, "method": "two_groups"}],
    }  # fmt: skip
    [row] = rows(
        tmp_path,
        fields,
        MonitorAssumptions(effect=6.0, level=2.0),
        [*people("France", 20), *people("Peru", 180)],
    )
    effective = 4 / (1 / 20 + 1 / 180) * 20 / 200
    assert row["rounds"] == ceil(int(row["units"] or 0) / effective)


def test_rounds_that_can_never_happen_are_not_planned_and_the_row_says_why(tmp_path: Path) -> None:
    population = {**ASKS, **POPULATION}
    [row] = rows(tmp_path, population, MonitorAssumptions(effect=2.0))
    assert [row[item] for item in ("rounds", "probes", "tokens", "cost")] == [None] * 4
    needed = -(-int(row["units"] or 0) // 2)
    sets = f"the number of rounds needed is {needed}, and the suite's 10 sets are enough for 5"
    assert row["why"] == sets
    most = f"the number of rounds needed is {needed}, and most_rounds is 3"
    [row] = rows(tmp_path, {**population, "most_rounds": 3}, MonitorAssumptions(effect=2.0))
    assert row["why"] == most
    [row] = rows(tmp_path, {**population, "most_rounds": 7}, MonitorAssumptions(effect=2.0))
    assert row["why"] == sets


def test_a_bank_is_asked_again_so_that_only_most_rounds_limits_it(tmp_path: Path) -> None:
    [row] = rows(tmp_path, ASKS, MonitorAssumptions(effect=0.5))
    rounds = int(row["rounds"] or 0)
    assert rounds > SETS
    assert row["why"] is None
    [row] = rows(tmp_path, {**ASKS, "most_rounds": rounds}, MonitorAssumptions(effect=0.5))
    assert row["rounds"] == rounds
    [row] = rows(tmp_path, {**ASKS, "most_rounds": rounds - 1}, MonitorAssumptions(effect=0.5))
    assert (row["rounds"], row["cost"]) == (None, None)
    assert f"most_rounds is {rounds - 1}" in str(row["why"])


def test_windows_are_limited_too_and_unknown_where_nobody_knows_their_users(tmp_path: Path) -> None:
    [row] = rows(
        tmp_path,
        {**LISTENS, "most_rounds": 1},
        MonitorAssumptions(effect=8.0, level=1, new_users=2),
    )
    assert row["rounds"] is None
    assert "most_rounds is 1" in str(row["why"])
    [row] = rows(tmp_path, LISTENS, MonitorAssumptions(effect=8.0, level=1))
    assert "`new_users`" in str(row["why"])


def test_the_same_feature_by_two_methods_is_planned_for_by_both(tmp_path: Path) -> None:
    other = {**FEATURE, "method": "two_groups"}
    fields = {**ASKS, **POPULATION, "features": [FEATURE, other]}
    pairs, groups = rows(tmp_path, fields, MonitorAssumptions(effect=8.0, level=1.0))
    assert str(groups["comparison"]).startswith("words.words/two_groups:")
    assert (pairs["level"], groups["level"]) == (None, 1.0)


def test_one_of_several_features_can_be_planned_for_alone(tmp_path: Path) -> None:
    other = {"extractor": "refusal", "feature": "refused", "tolerance": 0}
    fields = {**ASKS, "features": [FEATURE, other]}
    [row] = rows(tmp_path, fields, MonitorAssumptions(effect=0.5, feature="refusal.refused"))
    assert str(row["comparison"]).startswith("refusal.refused:")
    with pytest.raises(UsageError, match=r"no feature refusal\.words; it watches words\.words, re"):
        rows(tmp_path, fields, MonitorAssumptions(effect=0.5, feature="refusal.words"))


@pytest.mark.parametrize(
    ("fields", "assumed", "message"),
    [
        ({"tolerance": 3}, MonitorAssumptions(effect=2.0), "within the tolerance"),
        (
            {},
            MonitorAssumptions(effect=20.0),
            "a gap of 20 is impossible on a range from 0 to 10; set a",
        ),
        (
            {},
            MonitorAssumptions(effect=8.0, sd=7.0),
            "mean of 8 have a deviation of at most 6, not 7; set",
        ),
        (
            {},
            MonitorAssumptions(effect=8.0, binary=True),
            r"mean of 13 is outside .*--level is 5 \(the default, the mid",
        ),
        (
            {"method": "two_groups"},
            MonitorAssumptions(effect=2.0, level=9.0),
            "is outside the range",
        ),
        (
            {"method": "two_groups"},
            MonitorAssumptions(effect=2.0, sd=9.0),
            "have a deviation of at most",
        ),
        (
            {"method": "two_groups"},
            MonitorAssumptions(effect=4.0, sd=4.0),
            r"9 \(--level is the default, the",
        ),
        ({"method": "two_groups"}, MonitorAssumptions(effect=1e-200), "so small"),
        (
            {"method": "odds", "tolerance": 1},
            MonitorAssumptions(effect=0.5),
            "within the tolerance",
        ),
        ({"method": "odds"}, MonitorAssumptions(effect=0.5, level=3.0), "between 0 and 1"),
        ({"method": "odds"}, MonitorAssumptions(effect=0.5, level=1e-200), "so small"),
    ],
)
def test_what_cannot_be_planned_for_is_refused_in_a_sentence_with_the_features_name(
    tmp_path: Path, fields: dict[str, Any], assumed: MonitorAssumptions, message: str
) -> None:
    claim = POPULATION if "method" in fields else {}
    feature = {**FEATURE, "selected_at_least": 5, **fields}
    with pytest.raises(UsageError, match=message) as refused:
        rows(tmp_path, {**ASKS, **claim, "features": [feature]}, assumed)
    assert str(refused.value).startswith("words.words: ")
    assert str(refused.value).endswith(".")


@pytest.mark.parametrize(
    ("fields", "assumed", "message"),
    [
        (ASKS, MonitorAssumptions(effect=float("nan")), "--gap must be a finite number, not nan"),
        (
            LISTENS,
            MonitorAssumptions(effect=1, level=float("inf")),
            "--level must be a finite number, not inf",
        ),
        (
            ASKS,
            MonitorAssumptions(effect=1, prices=(1.0, float("nan"))),
            "`price_written` must be a finite number",
        ),
        (ASKS, MonitorAssumptions(effect=1, prices=(-1.0, 1.0)), "`price_read` must be at least 0"),
        (ASKS, MonitorAssumptions(effect=1, sd=-1.0), "--sd must be at least 0"),
        (ASKS, MonitorAssumptions(effect=1, prices=(1.0, None)), "Set both"),
        (ASKS, MonitorAssumptions(effect=1, new_users=3), "`new_users` does not apply"),
        (ASKS, MonitorAssumptions(effect=1, first_share=0.2), "`first_share` does not apply"),
        (LISTENS, MonitorAssumptions(effect=1, strata=3), "`strata` requires `new_users`"),
        (LISTENS, MonitorAssumptions(effect=1, first_share=1.0), "between 0 and 1, not 1"),
        (ASKS, MonitorAssumptions(effect=1, level=3.0), "--level does not apply"),
        (ASKS, MonitorAssumptions(effect=1, sd=1.0, binary=True), "are exclusive"),
        (LISTENS, MonitorAssumptions(effect=1, answer_tokens=9), "`answer_tokens` does not apply"),
        (LISTENS, MonitorAssumptions(effect=1, prices=(1.0, 1.0)), "`price_read` does not apply"),
        (SELECTS, MonitorAssumptions(effect=1, sd=0.1), "--sd does not apply"),
        (SELECTS, MonitorAssumptions(effect=1, binary=True), "`binary` does not apply"),
        (
            ASKS,
            MonitorAssumptions(effect=1, missing=1.0),
            "--missing is a share of all answers and must be below 1",
        ),
        (ASKS, MonitorAssumptions(effect=1, missing=-0.1), "--missing must be at least 0"),
        (ASKS, MonitorAssumptions(effect=1, spread=2.0), "`spread` does not apply"),
        (SELECTS, MonitorAssumptions(effect=1, spread=11.0), "`spread`, the deviation of log odds"),
        ({**ASKS, "webhook": "ftp://x"}, MonitorAssumptions(effect=1), "The monitor, webhook: "),
    ],
)
def test_what_says_nothing_of_the_monitor_is_refused_and_not_ignored(
    tmp_path: Path, fields: dict[str, Any], assumed: MonitorAssumptions, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        rows(tmp_path, fields, assumed)


def test_the_gap_of_a_stored_monitor_is_refused_with_the_way_to_plan_it() -> None:
    refused = CliRunner().invoke(app, ["plan", "hiring", "--gap", "0.1"])
    assert "To plan a suite or a monitor, give its file." in str(refused.exception)


def test_the_sentences_beneath_a_plan_speak_of_what_is_there(tmp_path: Path) -> None:
    asked = explained(rows(tmp_path, ASKS, MonitorAssumptions(effect=4.0)), traffic=False)
    assert asked.startswith("With these units 80 % of monitors with a gap of 4 raise an alarm")
    assert asked.endswith("; tokens are an estimate.")
    users = MonitorAssumptions(effect=8.0, level=1.0, new_users=9)
    heard = explained(rows(tmp_path, LISTENS, users), traffic=True)
    assert heard.endswith("raise an alarm; a round is a window.")
    never = rows(tmp_path, LISTENS, MonitorAssumptions(effect=0.001, sd=2.0))
    assert never[0]["units"] is None
    text = explained(never, traffic=True)
    assert text.startswith("words.words/matched:concept:France-Peru: fewer than 80 % of monit")
    assert "With these units" not in text


def test_units_that_nobody_knows_are_shown_as_such(tmp_path: Path) -> None:
    (tmp_path / "monitor.yaml").write_text(yaml.safe_dump(LISTENS))
    words = ["plan", str(tmp_path / "monitor.yaml"), "--gap", "0.001"]
    shown = CliRunner().invoke(app, words).output
    assert "units" in shown
    assert "the largest number simulated" in shown


def test_missing_answers_cost_a_bank_bounds_and_a_population_its_sets(tmp_path: Path) -> None:
    def units(fields: dict[str, Any], missing: float) -> int:
        [row] = rows(tmp_path, fields, MonitorAssumptions(effect=4.0, missing=missing), twins(60))
        assert row["missing"] == (missing or None)
        return int(row["units"] or 0)

    population = {**ASKS, **POPULATION}
    assert units(ASKS, 0.0) < units(ASKS, 0.05) < 2 * units(ASKS, 0.0)
    assert units(population, 0.05) == ceil(units(population, 0.0) / 0.95**2)


def test_a_share_of_missing_answers_that_leaves_no_decision_is_said(tmp_path: Path) -> None:
    [row] = rows(tmp_path, ASKS, MonitorAssumptions(effect=0.5, missing=0.1))
    assert (row["units"], row["rounds"]) == (None, None)
    text = explained([row], traffic=False)
    assert "no number of units decides; below a share of 0.048 it can be found." in text


def test_sets_that_differ_in_difficulty_are_planned_for(tmp_path: Path) -> None:
    def units(spread: float) -> int:
        [row] = rows(tmp_path, SELECTS, MonitorAssumptions(effect=1.0, level=0.3, spread=spread))
        assert row["spread"] == (spread or None)
        return int(row["units"] or 0)

    assert units(2.0) > 1.2 * units(0.0)
