"""What is said of a monitor before its first round."""

from services.gateway.monitors.notes import notes_of
from shared.contracts import Claim, Suite, SuiteProbe, WatchedFeature
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
    return notes_of(make_plan(features=(watched,), **fields), suite_of(sets))


def test_the_smallest_change_that_can_be_found_is_said() -> None:
    [said] = notes(50)
    assert "With 50 pairs of answers a round, a change of the gap after 30 rounds" in said
    assert said.endswith("a quarter of the range.")


def test_who_asks_too_little_is_warned() -> None:
    [said] = notes(5)
    assert said.endswith("ask more sets a round, or compare fewer groups.")
    [never] = notes(1, alpha=1e-9)
    assert "no change of the gap is found" in never


def test_new_sets_of_a_population_count_by_round() -> None:
    [said] = notes(100, claim=Claim.POPULATION, sets_per_round=25)
    assert said.startswith("With 25 pairs of answers a round")


def test_a_tolerance_of_zero_is_remarked() -> None:
    said = notes(50, tolerance=0.0)
    assert said[0].startswith("The tolerance of words.words is 0: any gap will alarm in time")
