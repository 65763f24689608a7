"""Labels that no correction holds are found, computed again, and left alone once they are held."""

from datetime import datetime, timedelta

import pytest

from biaswatch.services.diagnoser.handlers.labels import CorrectByLabels, LostCorrections
from biaswatch.shared.analysis.findings import AnalysisPlan
from biaswatch.shared.contracts import Response, Run
from biaswatch.shared.store import Store
from biaswatch.shared.store.archived_runs import ArchivableRun, ArchiveState
from tests.support.labelled_run import labelled, write_labelled_run
from tests.support.records import AT, make_label

LATER = AT + timedelta(hours=1)


@pytest.fixture
def run(store: Store) -> Run:
    result, truth = write_labelled_run(store)
    labelled(store, result, truth)
    return result


def lost(store: Store, now: datetime = LATER) -> LostCorrections:
    correct = CorrectByLabels(store, now=lambda: LATER, plan=AnalysisPlan())
    return LostCorrections(store, correct, now=lambda: now)


def test_labels_without_a_correction_are_computed_once_and_then_left_alone(
    store: Store, run: Run
) -> None:
    looks = lost(store)
    assert looks.due() == [run.id]
    store.records.write(looks.again(run.id))
    assert looks.due() == []
    assert looks.due() == []
    assert lost(store).due() == []  # neither does a service that begins anew


def test_another_label_makes_it_due_again(store: Store, run: Run) -> None:
    looks = lost(store)
    store.records.write([item for id_ in looks.due() for item in looks.again(id_)])
    assert looks.due() == []
    [result] = list(store.records.all(Run))
    labelled(store, result, dict.fromkeys(_answers(store), 1.0), wanted=120)
    assert looks.due() == [run.id]


def test_labels_that_have_just_come_are_on_their_usual_way(store: Store, run: Run) -> None:
    assert lost(store, AT + timedelta(seconds=1)).due() == []


def test_labels_that_no_correction_can_hold_are_looked_at_ever_more_rarely(store: Store) -> None:
    run, _ = write_labelled_run(store)
    label = {"run_id": run.id, "response_id": _answers(store)[0], "extractor": "judge"}
    store.records.write([make_label(**label, feature="rude")])  # of an answer of no sample
    looks, attempts = lost(store), []
    for look in range(40):
        for run_id in looks.due():
            assert looks.again(run_id) == []
            attempts.append(look)
    assert attempts == [0, 1, 3, 7, 15, 31]


def test_what_is_in_the_archive_is_not_corrected_by_readings_that_are_away(
    store: Store, run: Run
) -> None:
    archived = store.archived_runs
    archived.begin(ArchivableRun(run.id, run.tenant, run.suite), "file:///there", LATER)
    archived.note(run.id, ArchiveState.ARCHIVED, LATER)
    looks = lost(store)
    assert [looks.again(item) for item in looks.due()] == [[]]


def test_labels_that_are_gone_since_they_were_counted_are_left_alone(
    store: Store, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store.labelled_runs, "counts", lambda: {run.id: 100, "f" * 32: 3})
    assert lost(store).due() == [run.id]


def _answers(store: Store) -> list[str]:
    return [item.id for item in store.records.all(Response)]
