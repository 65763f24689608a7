"""The page on scale has the numbers of the model, and nothing is lost in its simulations."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import partitions
from benchmarks.partitions import SharedPlatform, shares
from benchmarks.scale import PAGE, TRAFFIC, TROUBLES, Trouble, simulate, with_needs
from benchmarks.scale_model import (
    GIB,
    MEASURED,
    ScaledTraffic,
    load_of,
    lost_precision,
    most_answers,
    needs_of,
)
from tests.support.records import make_exchange, make_features, make_response


def test_the_page_has_the_needs_of_the_model() -> None:
    text = PAGE.read_text()
    assert "| memory |" in text
    assert with_needs(text) == text


def test_the_page_has_the_limits_of_the_model() -> None:
    section = PAGE.read_text().partition("## The first limits")[2].partition("\n## ")[0]
    limits = [most_answers(name) for name in load_of(ScaledTraffic(1e6))]
    limits.append(most_answers("the store's disk", in_files=True))
    assert [most for most in limits if f"{most / 1e6:.0f}" not in section] == []


def test_ten_times_the_answers_take_ten_times_the_cores_and_disk() -> None:
    one, ten = (needs_of(ScaledTraffic(size)) for size in (1e6, 1e7))
    assert ten.total_cores == pytest.approx(10 * one.total_cores)
    assert ten.stored_gib == pytest.approx(10 * one.stored_gib)
    assert all(count * 0.7 >= ten.cores.get(name, 0) for name, count in ten.replicas.items())


def test_a_sample_takes_its_share_and_widens_intervals_by_its_root() -> None:
    whole, tenth = (needs_of(ScaledTraffic(1e8, sampled=share)) for share in (1.0, 0.1))
    assert tenth.total_cores == pytest.approx(whole.total_cores / 10)
    assert lost_precision(0.25) == 2.0
    with pytest.raises(ValueError, match="is in"):
        lost_precision(0.0)


def test_the_first_limit_is_the_one_that_is_passed_first() -> None:
    loads = load_of(ScaledTraffic(1e6))
    passed = [most_answers(name) for name in loads]
    assert passed == sorted(passed)
    assert load_of(ScaledTraffic(passed[0]))[next(iter(loads))] == pytest.approx(1.0)


def test_costs_in_bytes_are_those_of_records_as_they_are_encoded() -> None:
    text = "x" * 700
    headers = 60
    assert len(make_exchange(1, text=text).encode()) + headers == pytest.approx(
        MEASURED.exchange_bytes, rel=0.15
    )
    assert len(make_response(1, text=text).encode()) + headers == pytest.approx(
        MEASURED.response_bytes, rel=0.15
    )
    assert 2 * len(make_features(1).encode()) + headers == pytest.approx(
        MEASURED.features_bytes, rel=0.15
    )


@pytest.mark.parametrize("size", TRAFFIC)
@pytest.mark.parametrize("name", TROUBLES)
def test_nothing_is_lost_in_a_burst_or_while_the_recorder_is_down(size: float, name: str) -> None:
    traffic = TRAFFIC[size]
    day = simulate(traffic, TROUBLES[name], np.random.default_rng(1))
    assert day.lost == 0
    assert day.sent == day.stored + day.waiting
    assert day.most_backlog_bytes <= traffic.stream_gib * GIB
    assert day.waiting <= 3 * traffic.mean_rate + 3


def test_a_stream_that_is_too_small_loses_answers_and_the_simulation_says_how_many() -> None:
    traffic = replace(TRAFFIC[1e7], stream_gib=0.1)
    trouble = Trouble(recorder_down_at_s=3600, recorder_down_s=1800)
    day = simulate(traffic, trouble, np.random.default_rng(1))
    assert day.lost > 100_000
    assert day.sent == pytest.approx(day.stored + day.lost + day.waiting, abs=2)


def test_partitions_help_the_others_only_while_more_is_sent_than_is_handled() -> None:
    calm, flooded = SharedPlatform(50, flood=0.3), SharedPlatform(50, flood=2.0)
    for number in (1, 16):
        rng = np.random.default_rng(1)
        assert partitions.simulate(calm, number, rng).late_tenants == 0
    in_one_queue = partitions.simulate(flooded, 1, np.random.default_rng(1))
    in_turn = partitions.simulate(flooded, 16, np.random.default_rng(1))
    assert in_one_queue.late_tenants == 1
    # Those of the flood's own partition wait, and longer than in one queue.
    assert 0 < in_turn.late_tenants < 0.1
    assert in_turn.most_s > in_one_queue.most_s


def test_what_one_partition_leaves_goes_to_the_others() -> None:
    assert shares(np.array([10.0, 1.0, 100.0]), 30.0) == pytest.approx([10, 1, 19])
    assert shares(np.array([1.0, 2.0]), 30.0) == pytest.approx([1, 2])
    assert shares(np.array([50.0, 50.0]), 30.0) == pytest.approx([15, 15])
