"""What is said of a monitor before its first round."""

import tracemalloc
from collections.abc import Iterator

import pytest

from biaswatch.shared.analysis.monitors.notes import notes_of
from biaswatch.shared.analysis.monitors.plans import AskedSets, check_methods
from biaswatch.shared.contracts import (
    Claim,
    Method,
    MonitorPlan,
    Suite,
    SuiteProbe,
    WatchedFeature,
    WatchedPair,
)
from biaswatch.shared.errors import UsageError
from tests.support.records import make_plan


def suite_of(sets: int) -> Suite:
    probes = [
        SuiteProbe(key=f"{n}-{group}", prompt="?", set=f"s{n}", groups={"concept": group})
        for n in range(sets)
        for group in ("France", "Peru")
    ]
    return Suite(name="coasts", extractors=("words",), probes=tuple(probes))


def notes(sets: int, tolerance: float = 1.0, **fields: object) -> list[str]:
    watched = WatchedFeature(extractor="words", feature="words", high=10.0, tolerance=tolerance)
    return notes_of(make_plan(features=(watched,), **fields), AskedSets.of_suite(suite_of(sets)))


def test_the_smallest_change_that_can_be_found_is_said() -> None:
    [text] = notes(50)
    assert "With 50 pairs of answers a round, a change of the gap after 30 rounds" in text
    assert text.endswith("a quarter of the range.")


def test_who_asks_too_little_is_warned() -> None:
    [text] = notes(5)
    assert text.endswith("ask more sets a round, or compare fewer groups.")
    [never] = notes(1, alpha=1e-9)
    assert "no change of the gap is found" in never


def test_new_sets_of_a_population_count_by_round() -> None:
    [text] = notes(100, claim=Claim.POPULATION, sets_per_round=25)
    assert text.startswith("With 25 pairs of answers a round")


def test_a_tolerance_of_zero_is_remarked() -> None:
    text = notes(50, tolerance=0.0)
    assert text[0].startswith("The tolerance of words.words is 0: any gap will alarm in time")


def test_the_language_of_an_extractor_is_noted() -> None:
    watched = WatchedFeature(extractor="refusal", feature="refused", high=1.0, tolerance=0.1)
    [text] = notes_of(make_plan(features=(watched,)), None)
    assert text.startswith("refusal reads English: answers in other languages are left out")


def with_method(method: Method, suite: Suite) -> MonitorPlan:
    watched = WatchedFeature(
        extractor="words", feature="words", high=10.0, tolerance=0.5, method=method,
        selected_at_least=5.0 if method.of_selections else None,
    )  # fmt: skip
    return make_plan(claim=Claim.POPULATION, sets_per_round=10, features=(watched,))


def of_two_answers_a_group() -> Suite:
    suite = suite_of(40)
    again = [probe.model_copy(update={"key": f"{probe.key}-2"}) for probe in suite.probes]
    return suite.model_copy(update={"probes": (*suite.probes, *again)})


def test_odds_are_refused_where_sets_may_have_ratios_of_their_own() -> None:
    suite = of_two_answers_a_group()
    with pytest.raises(UsageError, match=r"several answers of a group.*Take `pairs`"):
        check_methods(with_method(Method.ODDS, suite), AskedSets.of_suite(suite))
    check_methods(with_method(Method.PAIRS, suite), AskedSets.of_suite(suite))
    check_methods(with_method(Method.ODDS, suite_of(40)), AskedSets.of_suite(suite_of(40)))


def test_sets_that_tell_nothing_are_remarked_for_selections() -> None:
    suite = suite_of(40)
    for method in (Method.ODDS, Method.DISCORDANT):
        text = notes_of(with_method(method, suite), AskedSets.of_suite(suite))
        assert any("carry no information" in item and "spread=" in item for item in text)


def test_twins_among_groups_without_twins_are_remarked() -> None:
    suite = suite_of(40)
    text = notes_of(with_method(Method.TWO_GROUPS, suite), AskedSets.of_suite(suite))
    assert any("are compared as twins by `two_groups`" in item for item in text)


def test_groups_compared_with_several_others_one_by_one_are_no_large_sets() -> None:
    probes = [
        SuiteProbe(key=f"{n}-{group}", prompt="?", set=f"s{n}", groups={"concept": group})
        for n in range(9)
        for group in ("France", "Peru", "Chile")
    ]
    sets = AskedSets.of("coasts", "a" * 32, probes)
    pairs = [WatchedPair(dimension="concept", a="France", b=b) for b in ("Peru", "Chile")]
    assert sets.largest_side(pairs) == 1
    assert sets.largest_side([WatchedPair(dimension="concept", a="France", b=None)]) == 2


def test_sets_that_the_suite_does_not_name_are_no_twins() -> None:
    probes = [
        SuiteProbe(key=group, unit="one", prompt="?", groups={"concept": group})
        for group in ("France", "Peru")
    ]
    sets, pair = AskedSets.of("coasts", "a" * 32, probes), WatchedPair(
        dimension="concept", a="France", b="Peru"
    )  # fmt: skip
    assert (sets.twins(pair), sets.twins(pair, named=True)) == (1, 0)


def test_of_a_large_suite_no_question_is_held() -> None:
    few, many = 2_000, 12_000

    def probes(amount: int) -> Iterator[SuiteProbe]:
        for n in range(amount):
            yield SuiteProbe(
                key=f"p{n}", prompt="?" * 500, set=f"a set with a long name {n // 2}",
                groups={"concept": ("France", "Peru")[n % 2]},
            )  # fmt: skip

    def most_bytes(amount: int) -> int:
        tracemalloc.start()
        sets = AskedSets.of("coasts", "a" * 32, probes(amount))
        assert sets.questions == amount
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert (most_bytes(many) - most_bytes(few)) / (many - few) < 40
