"""Evidence and allocation of a search, against brute force."""

from itertools import permutations

import numpy as np
import pytest

from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.search.allocation import next_cells
from biaswatch.shared.stats.search.distinct import SearchBatch, distinct_findings
from biaswatch.shared.stats.search.evidence import SearchEvidence, cannot_find_more, updated
from biaswatch.shared.stats.search.hypotheses import AskedCells, Region, SearchSpace
from biaswatch.shared.stats.search.reach import smallest_gap

SPACE = SearchSpace(topics=4, contexts=3, groups=3, scenarios=2)
ALPHA = 0.05


def batch(rng: np.random.Generator, sets: int, space: SearchSpace = SPACE) -> AskedCells:
    topics = rng.integers(space.topics + space.scenarios, size=sets)
    return AskedCells(topics, rng.integers(space.contexts, size=sets))


def test_the_weights_of_all_hypotheses_sum_to_one() -> None:
    assert SPACE.weights.sum() == pytest.approx(1)
    assert SearchSpace(topics=3, contexts=1, groups=2).weights.sum() == pytest.approx(1)


def test_a_set_counts_for_its_topic_its_context_its_crossing_and_everywhere() -> None:
    [numbers, proposed] = SPACE.of_sets(AskedCells(np.array([2, 5]), np.array([1, 1])))
    assert numbers[0].tolist() == [6, 7, 8]
    assert numbers[1].tolist() == [12 + 3, 12 + 4, 12 + 5]
    assert numbers[2].tolist() == [12 + 9, 12 + 10, 12 + 11]
    assert numbers[3].tolist() == [24 + 3 * 7, 24 + 3 * 7 + 1, 24 + 3 * 7 + 2]
    assert numbers[4].tolist() == [-1, -1, -1]
    assert (proposed[:4] == -1).all()
    assert proposed[4].tolist() == [60 + 3, 60 + 4, 60 + 5]


def test_the_mean_of_the_evidence_over_all_exchanges_of_a_batch_is_one() -> None:
    rng = np.random.default_rng(1)
    before = updated(SearchEvidence.none(SPACE), SPACE, batch(rng, 5), rng.random((5, 3)))
    cells, answers = batch(rng, 2), rng.random((2, 3)) ** 3
    after = [
        np.exp(updated(before, SPACE, cells, np.stack([answers[0, p], answers[1, q]])).log_e)
        for p in map(list, permutations(range(3)))
        for q in map(list, permutations(range(3)))
    ]
    assert np.mean(after, axis=0) == pytest.approx(np.exp(before.log_e))


def test_answers_of_one_group_that_spread_more_are_no_evidence() -> None:
    rng, space = np.random.default_rng(1), SearchSpace(topics=1, contexts=1, groups=4)
    cells = AskedCells(*np.zeros((2, 5), dtype=np.int64))
    before = updated(SearchEvidence.none(space), space, cells, rng.random((5, 4)))
    cells = AskedCells(*np.zeros((2, 1), dtype=np.int64))
    after = [
        np.exp(updated(before, space, cells, np.array([[0.5, 0.5, 0.5, value]])).log_e)
        for value in (0.1, 0.9)
    ]
    assert np.mean(after, axis=0) == pytest.approx(np.exp(before.log_e))


def test_one_batch_of_disjoint_regions_equals_its_parts() -> None:
    rng = np.random.default_rng(2)
    cells = AskedCells(np.array([0, 1]), np.array([0, 1]))
    answers = rng.random((2, 3))
    whole = updated(SearchEvidence.none(SPACE), SPACE, cells, answers)
    second = AskedCells(np.array([1]), np.array([1]))
    alone = updated(SearchEvidence.none(SPACE), SPACE, second, answers[1:])
    topic = slice(3, 6)
    assert whole.log_e[topic] == pytest.approx(alone.log_e[topic])


def test_every_topic_is_asked_once_before_leaders_are_followed() -> None:
    rng = np.random.default_rng(3)
    space = SearchSpace(topics=30, contexts=4, groups=2)
    evidence = SearchEvidence.none(space)
    first = next_cells(evidence, space, ALPHA, 30, rng)
    assert sorted(first.topics.tolist()) == list(range(30))
    answers = np.full((30, 2), 0.5)
    answers[first.topics == 7, 0] = 1.0
    evidence = updated(evidence, space, first, answers)
    second = next_cells(evidence, space, ALPHA, 20, rng)
    assert (second.topics == 7).sum() >= 2


def test_regions_that_are_found_get_no_sets_of_their_own() -> None:
    rng = np.random.default_rng(4)
    space = SearchSpace(topics=30, contexts=1, groups=2)
    cells = AskedCells(np.full(40, 7), np.zeros(40, dtype=np.int64))
    evidence = updated(SearchEvidence.none(space), space, cells, np.tile([1.0, 0.0], (40, 1)))
    assert evidence.rejected(space, ALPHA)[[7, space.first(Region.CROSSING) + 7]].all()
    others = AskedCells(np.delete(np.arange(30), 7), np.zeros(29, dtype=np.int64))
    evidence = updated(evidence, space, others, np.tile([0.6, 0.5], (29, 1)))
    assert (next_cells(evidence, space, ALPHA, 20, rng).topics == 7).sum() == 0


def test_cells_without_room_get_no_sets() -> None:
    space = SearchSpace(topics=3, contexts=2, groups=2)
    remaining = np.array([[0, 1], [0, 0], [3, 2]])
    rng, evidence = np.random.default_rng(5), SearchEvidence.none(space)
    cells = next_cells(evidence, space, ALPHA, 6, rng, np.zeros((3, 2), dtype=np.int64), remaining)
    sent = np.zeros((3, 2), dtype=np.int64)
    np.add.at(sent, (cells.topics, cells.contexts), 1)
    assert sent.tolist() == remaining.tolist()


def test_a_search_ends_where_the_rest_of_the_budget_can_find_nothing() -> None:
    space = SearchSpace(topics=10, contexts=1, groups=2)
    evidence = SearchEvidence.none(space)
    needed = int(np.ceil(space.log_thresholds(ALPHA).min() / np.log(2)))
    assert cannot_find_more(evidence, space, ALPHA, needed - 1)
    assert not cannot_find_more(evidence, space, ALPHA, needed)


@pytest.mark.parametrize("sizes", [(0, 1, 2), (1, 0, 2), (1, 1, 1)])
def test_a_space_without_a_topic_context_or_pair_of_groups_is_refused(
    sizes: tuple[int, int, int],
) -> None:
    with pytest.raises(ValueError, match="a topic, a context and two groups"):
        SearchSpace(*sizes)


def normal_answers(rng: np.random.Generator, cells: AskedCells, gaps: dict[int, float]) -> Floats:
    noise = rng.normal(0.5, 0.15, (len(cells), 2))
    noise[:, 0] -= [gaps.get(topic, 0.0) for topic in cells.topics]
    return noise


def searched(
    rng: np.random.Generator, space: SearchSpace, rounds: int, gaps: dict[int, float]
) -> tuple[SearchEvidence, list[SearchBatch]]:
    evidence, batches = SearchEvidence.none(space), list[SearchBatch]()
    for _ in range(rounds):
        topics = np.repeat(np.arange(space.topics), 4)
        cells = AskedCells(topics, rng.integers(space.contexts, size=len(topics)))
        answers = normal_answers(rng, cells, gaps)
        counted = np.ones((len(cells), len(Region)), dtype=np.bool_)
        batches.append(SearchBatch(cells, answers, counted))
        evidence = updated(evidence, space, cells, answers)
    return evidence, batches


@pytest.mark.parametrize("sets", [24, 60, 100])
def test_the_smallest_gap_is_found_with_a_probability_of_four_fifths(sets: int) -> None:
    rng = np.random.default_rng(5)
    noise = rng.normal(0, 0.15 * np.sqrt(2), 400)
    threshold = float(SearchSpace(topics=200, contexts=12, groups=2).log_thresholds(ALPHA)[0])
    gap = smallest_gap(sets, noise, threshold)
    assert gap is not None
    one, times = SearchSpace(topics=1, contexts=1, groups=2), 100
    result = 0
    for _ in range(times):
        evidence, _ = searched(rng, one, sets // 4, {0: gap})
        result += evidence.largest_log_e[0] >= threshold
    assert 0.65 <= result / times <= 0.97


def test_distinct_findings_are_the_topics_that_fail_and_not_what_contains_them() -> None:
    space = SearchSpace(topics=12, contexts=3, groups=2)
    evidence, batches = searched(np.random.default_rng(6), space, 8, {3: 0.3, 7: 0.25})
    assert evidence.rejected(space, ALPHA)[space.first(Region.EVERYWHERE)]
    result = [space.region_of(n)[:2] for n in distinct_findings(space, ALPHA, evidence, batches)]
    assert sorted(result) == [(Region.TOPIC, 3), (Region.TOPIC, 7)]


def test_a_gap_in_every_topic_is_one_distinct_finding() -> None:
    space = SearchSpace(topics=12, contexts=3, groups=2)
    gaps = dict.fromkeys(range(12), 0.2)
    evidence, batches = searched(np.random.default_rng(7), space, 8, gaps)
    result = [space.region_of(n)[0] for n in distinct_findings(space, ALPHA, evidence, batches)]
    assert result == [Region.EVERYWHERE]


def test_a_much_larger_gap_inside_a_wider_finding_is_one_more() -> None:
    space = SearchSpace(topics=12, contexts=3, groups=2)
    gaps = dict.fromkeys(range(12), 0.1) | {5: 0.5}
    evidence, batches = searched(np.random.default_rng(8), space, 10, gaps)
    result = [space.region_of(n)[:2] for n in distinct_findings(space, ALPHA, evidence, batches)]
    assert set(result) == {(Region.EVERYWHERE, 0), (Region.TOPIC, 5)}


def test_every_hypothesis_has_one_region() -> None:
    regions = [SPACE.region_of(number) for number in range(SPACE.hypotheses)]
    assert len(set(regions)) == SPACE.hypotheses
    for number in (0, 20, 40, SPACE.hypotheses - 1):
        region, place, contrast = SPACE.region_of(number)
        assert SPACE.is_of(region)[number]
        assert SPACE.first(region) + place * SPACE.contrasts + contrast == number


def test_batches_of_single_sets_follow_a_leader() -> None:
    space = SearchSpace(topics=12, contexts=3, groups=2)
    rng = np.random.default_rng(9)
    evidence, _ = searched(rng, space, 1, {3: 0.4})
    topics = [next_cells(evidence, space, ALPHA, 1, rng).topics[0] for _ in range(40)]
    assert topics.count(3) >= 30


def test_a_leader_without_new_questions_is_not_followed() -> None:
    space = SearchSpace(topics=12, contexts=3, groups=2)
    rng = np.random.default_rng(9)
    evidence, batches = searched(rng, space, 1, {3: 0.4})
    sent = np.zeros((12, 3), dtype=np.int64)
    np.add.at(sent, (batches[0].cells.topics, batches[0].cells.contexts), 1)
    assert (next_cells(evidence, space, ALPHA, 5, rng, sent).topics == 3).sum() >= 3
    sent[3] += 20
    assert (next_cells(evidence, space, ALPHA, 5, rng, sent).topics == 3).sum() == 0
