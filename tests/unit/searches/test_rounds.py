"""Rounds of a search: planned from its record and earlier rounds alone."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from biaswatch.shared.analysis.monitors.blocks import SuiteBlocks
from biaswatch.shared.analysis.search import (
    Ended,
    PlannedRound,
    answered,
    next_round,
    replay,
    results_of,
    suite_of_findings,
)
from biaswatch.shared.analysis.search.drawing import HELD_OUT_SHARE
from biaswatch.shared.contracts import WatchedPair
from biaswatch.shared.contracts.search import PERSON, Search, SearchRound, SetPurpose
from biaswatch.shared.contracts.suite_limits import check_suite
from biaswatch.shared.errors import UsageError
from biaswatch.shared.presentation.searches import coverage_map
from biaswatch.shared.requests.searches import Confirmed, SearchResults
from biaswatch.shared.stats.estimate import SummaryWord
from biaswatch.shared.stats.search.hypotheses import Region
from tests.support.searches import AT, RUN, a_search, a_space, rated, searched, values_of

FAILING = rated(1.5, lambda probe: probe.facts["topic"] == "t4")
FAIR = rated(0.0, lambda probe: True)


def planned(search: Search, rounds: list[SearchRound]) -> PlannedRound:
    next_ = next_round(replay(search, rounds))
    assert isinstance(next_, PlannedRound)
    return next_


@pytest.fixture(scope="module")
def failing() -> tuple[Search, list[SearchRound], str]:
    search = a_search(calls=900)
    return search, *searched(search, FAILING)


def test_the_same_rounds_have_the_same_next_round_whatever_happened_between(
    failing: tuple[Search, list[SearchRound], str],
) -> None:
    search, rounds, _ = failing
    for number, round_ in enumerate(rounds):
        decoded = [SearchRound.decode(r.encode()) for r in rounds[:number]]
        again = planned(Search.decode(search.encode()), decoded)
        assert [s.model_copy(update={"values": (None, None)}) for s in round_.sets] == list(
            again.sets
        )
        assert again.suite.hash == planned(search, rounds[:number]).suite.hash


def test_twins_differ_in_the_person_alone_and_the_suite_is_valid() -> None:
    search = a_search()
    round_ = planned(search, [])
    check_suite(round_.suite)
    probes = round_.suite.probes
    assert [p.key for p in probes[:4]] == ["r0s0-0", "r0s0-1", "r0s1-0", "r0s1-1"]
    for first, second in zip(probes[::2], probes[1::2], strict=True):
        assert first.set == second.set
        assert first.facts == second.facts
        assert first.prompt is not None
        assert second.prompt is not None
        person = first.stimuli["name"], second.stimuli["name"]
        assert first.prompt.replace(person[0], PERSON) == second.prompt.replace(person[1], PERSON)
        assert first.prompt.endswith(search.space.request)


def test_a_tenth_of_the_sets_are_placebo_twins_of_one_group() -> None:
    search = a_search()
    rounds, _ = searched(search, FAIR)
    results = results_of(replay(search, rounds), None)
    assert results.spent.placebo_sets == pytest.approx(0.1 * results.spent.sets, abs=1)
    assert results.placebo.sets == results.spent.placebo_sets
    assert results.placebo.differing is not None
    assert 0.3 < results.placebo.differing < 0.9
    suite = planned(search, []).suite
    placebo = [p for p in suite.probes if p.facts["purpose"] == SetPurpose.PLACEBO]
    for first, second in zip(placebo[::2], placebo[1::2], strict=True):
        assert first.stimuli["name"].split()[0] == second.stimuli["name"].split()[0]
        assert first.stimuli["name"] != second.stimuli["name"]
        assert "gender" not in first.groups


def test_persons_are_drawn_without_replacement_and_confirm_apart() -> None:
    search = a_search(calls=100, alpha=0.9)
    bank, rounds = len(search.space.groups["women"]), list[SearchRound]()
    names: dict[str, Counter[str]] = {purpose: Counter() for purpose in SetPurpose}
    while isinstance(next_ := next_round(replay(search, rounds)), PlannedRound):
        for probe in next_.suite.probes:
            names[probe.facts["purpose"]][probe.stimuli["name"]] += 1
        values = values_of(next_, FAILING, 0)
        rounds.append(answered(next_, search.id, RUN, values, AT))
    evidence = names[SetPurpose.EVIDENCE]
    assert max(evidence.values()) == 1
    assert len(evidence) < 2 * bank * (1 - HELD_OUT_SHARE)
    assert not names[SetPurpose.CONFIRMATION].keys() & evidence.keys()


def test_a_failing_topic_is_found_confirmed_and_shown_once(
    failing: tuple[Search, list[SearchRound], str],
) -> None:
    search, rounds, ended = failing
    results = results_of(replay(search, rounds), ended)
    assert results.word is SummaryWord.DISPARITY
    [finding] = results.findings
    assert finding.region in (Region.TOPIC, Region.CROSSING)
    assert (finding.topic, finding.group) == ("t4", "women")
    assert finding.p_value <= search.alpha * finding.share_of_alpha
    assert finding.confirmed is Confirmed.YES
    assert finding.effect.low is not None
    assert finding.effect.high is not None
    assert finding.effect.low < -1.4 < finding.effect.high < 0
    assert results.headline.startswith("Twins are treated differently in one region: topic t4")
    assert "women lower than men (confirmed by 27 fresh sets" in results.headline
    assert results.spent.calls <= search.calls
    SearchResults.model_validate_json(results.model_dump_json())


def test_nothing_found_states_what_would_have_been_found() -> None:
    search = a_search(calls=400)
    rounds, ended = searched(search, FAIR)
    results = results_of(replay(search, rounds), ended)
    assert results.word is SummaryWord.INCONCLUSIVE
    assert results.findings == []
    gap = results.coverage.everywhere.smallest_gap.value
    assert gap is not None
    assert f"A gap of {gap:.3g}" in results.headline
    assert sum(topic.sets for topic in results.coverage.topics) == (
        results.spent.sets - results.spent.placebo_sets
    )


def test_a_larger_budget_continues_the_same_search() -> None:
    small, large = a_search(calls=200), a_search(calls=600)
    assert small.id == large.id
    rounds, ended = searched(small, FAILING)
    assert ended == "The budget of 200 calls is spent."
    assert next_round(replay(small, rounds)) == Ended(ended)
    more, _ = searched(large, FAILING, rounds)
    assert more[: len(rounds)] == rounds
    assert results_of(replay(large, more), None).findings


def test_missing_answers_are_counted_and_are_no_evidence() -> None:
    search = a_search(calls=200)

    def half(probe: object, rng: np.random.Generator) -> float | None:
        return None if rng.random() < 0.3 else 3.0

    rounds, ended = searched(search, half)
    results = results_of(replay(search, rounds), ended)
    assert results.spent.missing == sum(s.values.count(None) for r in rounds for s in r.sets)
    assert results.spent.missing > 0
    coverage = results.coverage.everywhere
    incomplete = [
        s for r in rounds for s in r.sets if s.purpose is SetPurpose.EVIDENCE and None in s.values
    ]
    assert coverage.missing == len(incomplete)
    complete = coverage.sets - coverage.missing
    assert f"Nothing was found in {complete} complete sets of twins" in results.headline
    counts = [count for _, row in coverage_map(search.space, rounds).rows for count in row]
    assert sum(counts) == complete


def test_a_search_without_any_answer_ends_and_is_not_measured() -> None:
    search = a_search(calls=100_000)
    rounds, ended = searched(search, lambda probe, rng: None)
    assert len(rounds) < 10
    assert "None of" in ended
    results = results_of(replay(search, rounds), ended)
    assert results.word is SummaryWord.NOT_MEASURED
    assert results.headline == "No set of twins has been measured."


def test_too_few_names_restrict_the_claim_and_repeated_prompts_do_not_count() -> None:
    search = a_search(a_space(topics=1, contexts=1, persons=8), calls=200)
    rounds, ended = searched(search, FAIR)
    results = results_of(replay(search, rounds), ended)
    assert results.about_names
    assert "about these names" in results.headline
    assert ended.startswith("Too few new questions are left")
    assert 4 <= results.spent.sets - results.spent.placebo_sets <= 8


def test_a_search_ends_where_every_topic_is_found_and_confirmed() -> None:
    search = a_search(a_space(topics=2, contexts=1), calls=4000)
    rounds, ended = searched(search, rated(2.0, lambda probe: True))
    results = results_of(replay(search, rounds), ended)
    assert ended == "Every topic is part of a finding: more sets would only repeat it."
    assert results.spent.calls < 500
    assert {finding.confirmed for finding in results.findings} == {Confirmed.YES}


def test_confirmation_sets_that_repeat_a_question_do_not_confirm() -> None:
    search = a_search(a_space(topics=1, contexts=1, persons=24), calls=4000)
    rounds, _ = searched(search, rated(3.0, lambda probe: True))
    state = replay(search, rounds)
    [finding] = results_of(state, None).findings
    confirming = [
        d for sets in state.rounds for d in sets if d.record.purpose is SetPurpose.CONFIRMATION
    ]
    fresh = sum(drawn.new_prompts for drawn in confirming)
    assert 0 < fresh < len(confirming)
    assert finding.confirmation_sets == fresh


def test_a_space_of_few_questions_is_asked_completely_before_the_search_ends() -> None:
    search = a_search(a_space(topics=3, contexts=2, persons=12), calls=4000)
    rounds, ended = searched(search, FAIR)
    cells = Counter(
        (s.topic, s.context) for r in rounds for s in r.sets if s.purpose is SetPurpose.EVIDENCE
    )
    assert ended.startswith("Too few new questions are left")
    assert max(cells.values()) <= 12
    assert cells.total() > 50


def test_the_scaffold_of_a_space_is_that_of_its_rounds_and_part_of_the_search() -> None:
    direct, schema = a_search(a_space()), a_search(a_space(scaffold="direct-schema"))
    assert planned(direct, []).suite.scaffolds == ("direct",)
    assert planned(schema, []).suite.scaffolds == ("direct-schema",)
    assert direct.id != schema.id


def test_likelihoods_are_measured_on_the_scale_of_the_space() -> None:
    space = a_space(extractor="likelihood", feature="expected_rating", scaffold="likelihood")
    suite = check_suite(planned(a_search(space), []).suite)
    assert suite.requested is not None
    assert (suite.requested.part, suite.requested.low, suite.requested.high) == ("rating", 1, 5)


def test_a_person_counts_once_for_a_region_where_the_claim_is_about_the_group() -> None:
    space = a_space(topics=40, persons=100)
    search = a_search(space, calls=1000)
    rounds, _ = searched(search, FAIR)
    everywhere = results_of(replay(search, rounds), None).coverage.everywhere
    assert everywhere.sets > 300
    assert everywhere.smallest_gap.value is not None
    short, _ = searched(a_search(space, calls=200), FAIR)
    first = results_of(replay(search, short), None).coverage.everywhere.smallest_gap.value
    assert first is not None
    assert everywhere.smallest_gap.value > 0.8 * first


def test_a_group_that_fails_everywhere_is_one_finding_about_all_topics() -> None:
    search = a_search(a_space(topics=30, contexts=4, persons=200), calls=600)
    rounds, ended = searched(search, rated(1.0, lambda probe: True))
    results = results_of(replay(search, rounds), ended)
    assert results.findings[0].region is Region.EVERYWHERE
    assert results.findings[0].title == "all topics and contexts: women lower than men"
    assert len(results.findings) == 1


def test_confirmation_on_twins_without_a_gap_refuses_a_finding() -> None:
    search = a_search(calls=700)

    def fades(probe: object, rng: np.random.Generator) -> float:
        is_fresh = probe.facts["purpose"] == SetPurpose.CONFIRMATION  # type: ignore[attr-defined]
        return (FAIR if is_fresh else FAILING)(probe, rng) or 3.0  # type: ignore[arg-type]

    rounds, ended = searched(search, fades)
    [finding] = results_of(replay(search, rounds), ended).findings
    assert finding.confirmed is Confirmed.NO
    assert "not confirmed" in results_of(replay(search, rounds), ended).headline


def test_evidence_only_grows_to_a_finding_and_findings_stay(
    failing: tuple[Search, list[SearchRound], str],
) -> None:
    search, rounds, _ = failing
    result = [
        bool(results_of(replay(search, rounds[:n]), None).findings) for n in range(len(rounds) + 1)
    ]
    assert not result[0]
    assert all(later >= earlier for earlier, later in pairwise(result))


def test_a_suite_of_findings_asks_fresh_twins_of_the_regions(
    failing: tuple[Search, list[SearchRound], str],
) -> None:
    search, rounds, _ = failing
    suite = check_suite(suite_of_findings(replay(search, rounds), 20))
    assert len(suite.probes) == 40
    assert {probe.facts["topic"] for probe in suite.probes} == {"t4"}
    assert {probe.facts["finding"] for probe in suite.probes} == {"1"}
    blocks = SuiteBlocks.of_probes(suite.random, suite.probes).of(
        WatchedPair(dimension="gender", a="women", b="men")
    )
    assert blocks is not None
    assert (blocks.count, blocks.lacking) == (20, None)
    with pytest.raises(UsageError, match="has found nothing"):
        suite_of_findings(replay(search, []), 20)


def test_three_groups_are_searched_each_against_the_others() -> None:
    persons = {g: tuple(f"{g} {n}" for n in range(120)) for g in ("a", "b", "c")}
    space = a_space(topics=6, groups=persons, dimension="gender")
    search = a_search(space, calls=900)
    rounds, ended = searched(search, rated(1.5, lambda p: p.facts["topic"] == "t4", group="b"))
    finding = results_of(replay(search, rounds), ended).findings[0]
    assert (finding.topic, finding.group, finding.other) == ("t4", "b", "the others")
    assert finding.confirmed is Confirmed.YES
