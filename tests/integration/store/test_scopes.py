"""What one tenant sees of the store, on both databases: its own records, and texts if it may."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from biaswatch.shared.contracts import Features, Monitor, Purpose, Response, Run, Suite, SuiteProbe
from biaswatch.shared.store import Store
from biaswatch.shared.store.database import Scope
from tests.support.records import (
    AT,
    make_features,
    make_monitor,
    make_probe,
    make_response,
    make_run,
)
from tests.support.suite_outlines import outline_of

NOW = datetime(2026, 2, 1, tzinfo=UTC)
SUITE = Suite(name="tiny", extractors=("words",), probes=(SuiteProbe(key="a", prompt="Hello?"),))


def filled(store: Store, tenant: str) -> Run:
    """Store a run of a tenant with one answer; return the run."""
    run = make_run(tenant=tenant)
    probe = make_probe(1, tenant=tenant, run_id=run.id, unit_id="user-7")
    response = make_response(1, tenant=tenant, probe=probe)
    features = make_features(1, tenant=tenant, run_id=run.id)
    store.records.write([run, response, features, make_monitor(tenant=tenant)])
    return run


Look = Callable[[Store, Run], int]
LOOKS: dict[str, Look] = {
    "count": lambda s, run: s.records.count(Run),
    "count of a run": lambda s, run: s.records.count(Response, run_id=run.id),
    "missing": lambda s, run: 1 - len(s.records.missing(Run, [run.id])),
    "get": lambda s, run: len(list(s.records.get(Run, [run.id]))),
    "read": lambda s, run: len(list(s.records.read(Response, run_id=run.id))),
    "bodies": lambda s, run: len(list(s.records.bodies(Features, run_id=run.id))),
    "all": lambda s, run: len(list(s.records.all(Monitor))),
    "latest": lambda s, run: len(s.records.latest(Run, 10, purpose=Purpose.STUDY)),
    "since": lambda s, run: len(s.records.since(Run, AT, purpose=Purpose.STUDY)),
    "of a monitor": lambda s, run: len(
        list(s.records.of_monitor(Monitor, make_monitor(tenant=run.tenant).monitor_id))
    ),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS.keys())
def test_no_way_of_reading_leads_to_another_tenants_records(store: Store, look: Look) -> None:
    run = filled(store, "hiring")
    assert look(store.scoped(lambda: Scope(tenant="hiring")), run) == 1
    assert look(store.scoped(lambda: Scope(tenant="lending")), run) == 0
    assert look(store, run) == 1


def test_a_record_of_another_tenant_cannot_be_written(store: Store) -> None:
    lending = store.scoped(lambda: Scope(tenant="lending"))
    with pytest.raises(ValueError, match="another tenant"):
        lending.records.write([make_run(tenant="hiring")])
    assert store.records.count(Run) == 0


def test_without_the_right_to_texts_records_read_as_if_purged(store: Store) -> None:
    run = filled(store, "hiring")
    numbers_only = store.scoped(lambda: Scope(tenant="hiring", texts=False))
    [read] = numbers_only.records.read(Response, run_id=run.id)
    assert (read.text, read.probe.messages, read.probe.baseline) == (None, (), None)
    [read] = numbers_only.records.get(Response, [read.id])
    assert read.text is None
    [read] = store.records.read(Response, run_id=run.id)
    assert read.text


def test_a_suite_is_seen_by_those_who_uploaded_it(store: Store) -> None:
    hiring = store.scoped(lambda: Scope(tenant="hiring"))
    lending = store.scoped(lambda: Scope(tenant="lending"))
    kept = hiring.suites.keep(SUITE, NOW)
    outline = outline_of(SUITE)
    assert hiring.suites.outline(kept) == outline
    assert lending.suites.outline(kept) is None
    assert store.suites.outline(kept) == outline
    assert lending.suites.keep(SUITE, NOW) == kept
    assert lending.suites.outline(kept) == outline
    assert tuple(lending.suites.every_probe(outline)) == SUITE.probes


def test_a_purge_of_one_tenant_leaves_the_texts_of_others(store: Store) -> None:
    hiring_run, lending_run = filled(store, "hiring"), filled(store, "lending")
    hiring = store.scoped(lambda: Scope(tenant="hiring"))
    assert hiring.purges.unit("user-7", NOW) > 0
    assert hiring.purges.before(datetime(2030, 1, 1, tzinfo=UTC), NOW) == 0
    assert hiring.purges.run(lending_run.id, NOW) == 0
    assert [item.text for item in store.records.read(Response, run_id=hiring_run.id)] == [None]
    [kept] = store.records.read(Response, run_id=lending_run.id)
    assert kept.text
    gone = store.purges.so_far()
    assert gone.covers(make_probe(1, tenant="hiring", run_id=hiring_run.id, unit_id="user-7"))
    assert not gone.covers(make_probe(2, tenant="lending", run_id=lending_run.id, unit_id="user-7"))


def test_two_tenants_have_a_monitor_of_one_name(store: Store) -> None:
    for tenant in ("hiring", "lending"):
        assert store.schedule.put(make_monitor(tenant=tenant))
    assert [monitor.monitor.tenant for monitor in store.schedule.monitors()] == [
        "hiring",
        "lending",
    ]
    response = store.schedule.get(make_monitor().name, "lending")
    assert response is not None
    assert store.schedule.end(response, "it is over")
    other = store.schedule.get(make_monitor().name, "hiring")
    assert other is not None
    assert other.ended is None
