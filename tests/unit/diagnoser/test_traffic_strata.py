"""Users by stratum: every user stands in one, and their sums are those of the evidence."""

from collections import Counter

from biaswatch.shared.analysis.monitors.traffic_users import most_strata
from biaswatch.shared.contracts import StratumUsers
from tests.unit.diagnoser.test_traffic_matching import BY_TOPIC, counted, heard

TOPICS = ("billing", "refunds", "delivery")
ANSWERS = [heard(f"{'fm'[n % 2]}{n}", n % 9, n % 10, topic=TOPICS[n % 7 % 3]) for n in range(120)]


def strata(most: int = 20) -> list[StratumUsers]:
    return list(counted(*ANSWERS, traffic=BY_TOPIC, most_strata=most).strata)


def test_strata_add_up_to_what_the_evidence_counts() -> None:
    evidence = counted(*ANSWERS, traffic=BY_TOPIC).counted.counts
    result = strata()
    assert {item.facts for item in result} == {(topic,) for topic in TOPICS}
    for side in ("first", "second"):
        added = Counter[int]()
        for item in result:
            added.update(getattr(item, side))
        kept = {place: count for place, count in enumerate(evidence[side]) if count}
        assert sum(added.values()) == sum(kept.values()) == 60
    differences = Counter[int]()
    for item in result:
        differences.update(item.differences)
    assert dict(differences) == {n: c for n, c in enumerate(evidence["differences"]) if c}
    assert [sum(item.matched[n] for item in result) for n in (0, 1)] == list(evidence["users"][:2])


def test_of_many_strata_the_largest_keep_their_names() -> None:
    [others, largest] = strata(most=1)
    assert others.facts == ()
    assert largest.facts == ("billing",)
    everybody = [*others.first.values(), *others.second.values(), *largest.first.values()]
    assert sum([*everybody, *largest.second.values()]) == 120


def test_many_comparisons_tell_fewer_strata_apart() -> None:
    assert (most_strata(1), most_strata(10), most_strata(1000)) == (20, 15, 1)


def test_a_long_fact_is_cut() -> None:
    [one] = counted(heard("f1", 0, 1, topic="x" * 999), traffic=BY_TOPIC).strata
    assert one.facts == ("x" * 40,)
