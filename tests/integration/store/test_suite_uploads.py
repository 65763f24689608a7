"""Suites that come part by part are those that come whole; what does not end leaves nothing."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select

from biaswatch.shared.contracts import Suite, SuiteHeader, SuiteProbe
from biaswatch.shared.contracts.suite_limits import SuiteCounts
from biaswatch.shared.errors import UsageError
from biaswatch.shared.store import Store
from biaswatch.shared.store.database import Database
from biaswatch.shared.store.engine import read_transaction
from biaswatch.shared.store.run_tables import SUITE_PROBES
from biaswatch.shared.store.suite_uploads import ABANDONED_S, SuiteUpload
from tests.support.records import AT
from tests.support.suite_outlines import outline_of

PROBES = tuple(
    SuiteProbe(key=f"p{n}", prompt=f"Say {n}.", set=f"s{n // 2}", facts={"side": "ab"[n % 2]})
    for n in range(7)
)
SUITE = Suite(name="parts", extractors=("words",), strata=("side",), probes=PROBES)

probes = st.lists(
    st.builds(
        SuiteProbe,
        key=st.uuids().map(str),
        variables=st.sampled_from([{"question": "?"}, {"scale": "1 to 4"}]),
        set=st.sampled_from([None, "s", "t"]),
        groups=st.sampled_from([{}, {"race": "x"}]),
        facts=st.sampled_from([{}, {"side": "a"}, {"side": "b"}, {"side": "c"}]),
    ),
    min_size=1,
    max_size=8,
)


@given(probes)
def test_what_is_counted_part_by_part_is_what_the_whole_suite_says(some: list[SuiteProbe]) -> None:
    suite = Suite(name="counted", extractors=("words",), probes=tuple(some))
    counts = SuiteCounts(suite.header)
    for probe in some:
        counts.add(probe)
    assert counts.outline(suite.hash) == outline_of(suite)
    assert not list(counts.likely_duplicates())


def kept_rows(store: Store) -> int:
    with read_transaction(store.engine) as connection:
        return int(connection.scalar(select(func.count()).select_from(SUITE_PROBES)) or 0)


def kept(store: Store, *parts: Sequence[SuiteProbe], header: SuiteHeader = SUITE.header) -> str:
    with store.suites.upload() as upload:
        for part in parts:
            upload.add(part)
        return upload.keep(header, AT).hash


def test_a_suite_that_comes_in_parts_is_the_suite_that_comes_whole(store: Store) -> None:
    hash_ = kept(store, PROBES[:3], PROBES[3:])
    outline = outline_of(SUITE)
    assert store.suites.outline(hash_) == outline
    assert tuple(store.suites.every_probe(outline)) == SUITE.probes
    assert store.suites.keep(SUITE, AT) == hash_
    assert kept_rows(store) == len(PROBES)


def test_an_upload_that_breaks_off_leaves_nothing(store: Store) -> None:
    with suppress(ConnectionError), store.suites.upload() as upload:
        upload.add(PROBES)
        assert kept_rows(store) == len(PROBES)
        raise ConnectionError
    assert kept_rows(store) == 0


def test_what_a_dead_process_left_is_removed_a_day_later(store: Store) -> None:
    now_s = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())
    SuiteUpload(Database(store.engine), "default", now_s=now_s - ABANDONED_S - 1).add(PROBES)
    SuiteUpload(Database(store.engine), "default", now_s=now_s - ABANDONED_S + 60).add(PROBES)
    with SuiteUpload(Database(store.engine), "default", now_s=now_s):
        assert kept_rows(store) == len(PROBES)


def test_two_probes_of_one_key_in_different_parts_are_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="two probes have the key 'p1'"):
        kept(store, PROBES, PROBES[1:2])
    assert kept_rows(store) == 0


def test_a_stratum_that_no_probe_has_is_refused(store: Store) -> None:
    header = SUITE.header.model_copy(update={"strata": ("topic",)})
    with pytest.raises(UsageError, match="no probe has the stratum 'topic'"):
        kept(store, PROBES, header=header)


def test_a_unit_that_is_purged_during_the_upload_does_not_come_back(store: Store) -> None:
    with store.suites.upload() as upload:
        upload.add(PROBES)
        store.purges.unit("p2", AT)
        with pytest.raises(UsageError, match="The texts of the unit p2 were purged"):
            upload.keep(SUITE.header, AT)
    assert kept_rows(store) == 0


def test_the_questions_about_a_group_are_found_without_reading_any(store: Store) -> None:
    asked = [
        SuiteProbe(key=f"g{n}", prompt="?", groups={"of": "xy"[n % 2], **({"a": "x"} if n else {})})
        for n in range(5)
    ]
    header = SuiteHeader(name="grouped", extractors=("words",))
    suite = kept(store, asked[:2], asked[2:], header=header)
    groups = {(group.dimension, group.group): group for group in store.suites.groups(suite)}
    assert {name: group.probes for name, group in groups.items()} == {
        ("a", "x"): 4, ("of", "x"): 3, ("of", "y"): 2,
    }  # fmt: skip
    of_x, of_y = (groups["of", name].number for name in "xy")
    assert store.suites.positions_of_groups(suite, [of_x]) == [0, 2, 4]
    assert store.suites.positions_of_groups(suite, [of_x, of_y]) == list(range(5))
    assert kept(store, asked, header=header) == suite
    assert len(store.suites.groups(suite)) == 3
