"""Purging on both databases: texts go, numbers stay, and nothing comes back."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from biaswatch.services.gateway.administration import purge_texts
from biaswatch.shared.contracts import (
    Features,
    Label,
    Message,
    PairVerdict,
    Purpose,
    Record,
    Response,
    Suite,
    SuiteProbe,
    probes_of,
)
from biaswatch.shared.contracts.suite import PURGED
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.platform import PurgeRequest
from biaswatch.shared.store import PlannedProbes, Store
from biaswatch.shared.store.answer_parts import Patience, WaitingPart
from biaswatch.shared.store.database import Scope
from tests.support.records import (
    AT,
    RUN_ID,
    make_features,
    make_label,
    make_probe,
    make_response,
    make_run,
    make_verdict,
)

NOW = datetime(2026, 2, 1, tzinfo=UTC)


def test_a_purged_run_keeps_its_numbers_and_loses_its_texts(store: Store) -> None:
    other = make_probe(2, run_id="f" * 32)
    store.records.write([make_response(1), make_features(1), make_response(2, probe=other)])
    assert store.purges.run(RUN_ID, NOW) == 3  # the answer, the question, the baseline
    [read] = store.records.read(Response, run_id=RUN_ID)
    assert (read.text, read.probe.messages, read.probe.baseline) == (None, (), None)
    assert read.id == make_response(1).id
    assert read.usage == make_response(1).usage
    assert list(store.records.read(Features, run_id=RUN_ID)) == [make_features(1)]
    [kept] = store.records.read(Response, run_id="f" * 32)
    assert kept.text == make_response(2).text


def test_a_late_copy_brings_no_purged_text_back(store: Store) -> None:
    store.records.write([make_response(1)])
    store.purges.run(RUN_ID, NOW)
    store.records.write([make_response(1), make_response(2)])
    assert [r.text for r in store.records.read(Response, run_id=RUN_ID)] == [None, None]


def test_a_unit_can_be_purged_by_itself(store: Store) -> None:
    store.records.write([make_response(1), make_response(2)])
    assert store.purges.unit("prompt-1", NOW) == 3
    texts = {r.probe.unit_id: r.text for r in store.records.read(Response, run_id=RUN_ID)}
    assert texts == {"prompt-1": None, "prompt-2": make_response(2).text}


def test_texts_before_a_date_can_be_purged(store: Store) -> None:
    later = AT + timedelta(days=2)
    store.records.write(
        [make_response(1), make_response(2, at=later, probe=make_probe(2, at=later))]
    )
    assert store.purges.before(AT + timedelta(days=1), NOW) == 3
    assert store.purges.before(AT + timedelta(days=1), NOW) == 0
    texts = {r.probe.key: r.text for r in store.records.read(Response, run_id=RUN_ID)}
    assert texts == {"probe-1": None, "probe-2": make_response(2).text}


def test_purging_what_is_not_there_is_not_an_error(store: Store) -> None:
    assert store.purges.run("e" * 32, NOW) == 0


def make_suite(*units: str) -> Suite:
    probes = [
        SuiteProbe(key=f"p{n}", unit=unit, prompt=f"How is {unit}?", groups={"side": "a"})
        for n, unit in enumerate(units)
    ]
    variables = {"question": "Is it?", "scale": "1 to 4"}
    asked = SuiteProbe(key="v", unit="ann", variables=variables, baseline="b", expected="c")
    return Suite(name="people", extractors=("words",), probes=(*probes, asked))


def test_a_purged_unit_leaves_stored_suites_with_its_groups_and_without_its_words(
    store: Store,
) -> None:
    suite = make_suite("ann", "bob")
    hash_ = store.suites.keep(suite, NOW)
    store.purges.unit("ann", NOW)
    assert store.suites.purge_unit("ann") == 2
    outline = store.suites.outline(hash_)
    assert outline is not None
    left = list(store.suites.every_probe(outline))
    assert not any("How is ann" in item.model_dump_json() for item in left)
    assert [item.groups for item in left] == [probe.groups for probe in suite.probes]
    assert left[1] == suite.probes[1]
    asked = left[2]
    assert asked.variables == {"question": PURGED, "scale": PURGED}
    assert (asked.baseline, asked.expected) == (None, None)
    assert store.suites.purge_unit("ann") == 0


def test_a_suite_with_a_purged_unit_is_not_stored_again(store: Store) -> None:
    store.purges.unit("ann", NOW)
    with pytest.raises(UsageError, match="the unit ann were purged, and the suite holds it"):
        store.suites.keep(make_suite("ann"), NOW)


def test_the_probes_of_a_run_keep_their_ids_when_a_unit_of_its_suite_is_purged(
    store: Store,
) -> None:
    suite = make_suite("ann", "bob")
    run = make_run(suite_hash=store.suites.keep(suite, NOW))
    before = [probe.id for probe in probes_of(run, suite, NOW)]
    store.suites.purge_unit("ann")
    outline = store.suites.outline(run.suite_hash)
    assert outline is not None
    left = PlannedProbes(store.suites, outline, run)
    assert [probe.id for probe in left.read(NOW)] == before


def test_a_tenant_purges_no_suite_that_another_has_uploaded_too(store: Store) -> None:
    suite = make_suite("ann")
    first, second = (store.scoped(lambda: Scope(tenant="a")), store.scoped(lambda: Scope("b")))
    first.suites.keep(suite, NOW)
    second.suites.keep(suite, NOW)
    assert first.suites.purge_unit("ann") == 0
    assert store.suites.purge_unit("ann") == 2


def make_judged(text: str, set_name: str = "couple", **fields: object) -> list[Record]:
    """Make what a judge was asked and said about the pairs of a set, and the verdict."""
    probe = make_probe(
        7, purpose=Purpose.JUDGE, unit_id=set_name, messages=[Message(role="user", content=text)],
        **fields,
    )  # fmt: skip
    response = make_response(7, probe=probe, purpose=Purpose.JUDGE, text=text, **fields)
    verdict = make_verdict(set_id=set_name, explanations={"flag": text}, **fields)
    return [response, verdict]


def test_what_judges_were_asked_and_said_about_a_purged_unit_goes_with_it(store: Store) -> None:
    pair = [
        SuiteProbe(key=item, unit=item, set="couple", prompt="?", groups={"side": item})
        for item in ("ann", "bob")
    ]
    store.suites.keep(Suite(name="pairs", extractors=("words",), probes=tuple(pair)), NOW)
    other = make_response(2, probe=make_probe(2, unit_id="couple"))  # a unit that is called so
    store.records.write([*make_judged("Ann was here."), other])
    [response, verdict] = make_judged("Ann was here.")
    of_pair = make_label(
        extractor="oracle", feature="own_a", unit_id="couple", note="Ann was here."
    )
    of_unit = make_label(unit_id="couple", note="Somebody who is called so.")
    store.records.write([of_pair, of_unit])
    purge_texts(store, PurgeRequest(unit="ann"), NOW)
    late = make_label(**{**of_pair.model_dump(exclude={"id"}), "number": 1})
    store.records.write([response, verdict, late])  # late copies
    judged, kept = [
        list(store.records.get(kind, [record.id]))
        for kind, record in ((Response, response), (Response, other))
    ]
    [stored] = store.records.all(PairVerdict)
    assert (judged[0].text, judged[0].probe.messages, stored.explanations) == (None, (), {})
    assert kept == [other]
    assert [item.note for item in store.records.get(Label, [of_pair.id, late.id])] == ["", ""]
    assert list(store.records.get(Label, [of_unit.id])) == [of_unit]


def make_part(
    key: str, unit: str | None, tenant: str = "default", at: datetime = AT
) -> WaitingPart:
    answer = {"source": "bot", "key": key} | ({"unit": unit} if unit else {})
    digest = f"{key}{unit}{tenant}"
    body = json.dumps(answer, ensure_ascii=False)
    return WaitingPart(tenant, "bot", key, digest, at, unit is None, True, body)


def test_parts_of_answers_that_wait_go_with_the_unit_that_one_of_them_names(store: Store) -> None:
    parts = [
        make_part("1", "Änne \"x\""), make_part("1", None), make_part("2", "bob"),
        make_part("3", "Änne \"x\"", "other"), make_part("Änne \"x\"", None),
    ]  # fmt: skip
    store.answer_parts.keep(parts)
    scoped = store.scoped(lambda: Scope(tenant="default"))
    assert purge_texts(scoped, PurgeRequest(unit='Änne "x"'), NOW).texts == 3
    left = store.answer_parts.settled(Patience(NOW, NOW, NOW))
    assert sorted((part.tenant, part.key) for part, *_ in left) == [
        ("default", "2"),
        ("other", "3"),
    ]


def test_parts_of_answers_that_wait_go_with_their_age(store: Store) -> None:
    later = AT + timedelta(hours=1)
    store.answer_parts.keep([make_part("1", "ann"), make_part("2", "ann", at=later)])
    assert purge_texts(store, PurgeRequest(before=later), NOW).texts == 1
    [[left]] = store.answer_parts.settled(Patience(NOW, NOW, NOW))
    assert left.key == "2"
