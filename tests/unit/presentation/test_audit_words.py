"""Entries of the audit trail in words: names where there are any, ids where nothing else names."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from biaswatch.cli.admin.audit import print_entries, verified_in_words
from biaswatch.services.gateway.dashboard.overview_pages import SUPPLIED_REPORT, names_of
from biaswatch.shared.contracts import parse_target
from biaswatch.shared.contracts.audit import AuditAction, AuditedAct, AuditEntry, next_entry
from biaswatch.shared.presentation.names import AuditObject, audit_object
from biaswatch.shared.presentation.operation_tables import audit_table
from biaswatch.shared.store import Store, migrate
from tests.support.records import make_brief, make_run

ID = "0123456789abcdef" * 2
AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def entry(
    action: AuditAction, subject: str, failure: str | None = None, **details: str
) -> AuditEntry:
    act = AuditedAct(
        tenant="default", actor="anna", role="run", source="10.0.0.3", action=action,
        subject=subject, details=details, failure=failure,
    )  # fmt: skip
    return next_entry(act, None, AT)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            entry(AuditAction.RUN_START, ID, suite="hiring", targets="a:b, c:d"),
            AuditObject("hiring", ID[:12], "models: a:b, c:d"),
        ),
        (entry(AuditAction.MONITOR_PAUSE, "coasts", monitor_id=ID), AuditObject("coasts", "", "")),
        (
            entry(AuditAction.ALARM_ACKNOWLEDGE, ID, monitor="coasts", note="We look."),
            AuditObject("coasts", ID[:12], "note: We look."),
        ),
        (
            entry(AuditAction.LABELS_SAMPLE, ID, number="vader.sentiment", sample=ID),
            AuditObject("labels of a run", ID[:12], "measured number: sentiment (vader)"),
        ),
        (
            entry(AuditAction.TARGET_RESUME, "openai:a-model-with-a-long-name-of-its-own"),
            AuditObject("openai:a-model-with-a-long-name-of-its-own", "", ""),
        ),
    ],
)
def test_what_was_acted_on_has_its_name_and_only_as_much_id_as_finds_it(
    given: AuditEntry, words: AuditObject
) -> None:
    assert audit_object(given) == words


def test_the_page_shows_the_name_with_the_id_below() -> None:
    [named, bare] = audit_table(
        [
            entry(AuditAction.RUN_START, ID, suite="hiring"),
            entry(AuditAction.INTERPRETATION_START, ID),
        ],
        {},
    ).rows
    assert (named[6].text, named[6].note) == ("hiring", ID[:12])
    assert (bare[6].text, bare[6].note) == ("an interpretation", ID[:12])


def test_printed_entries_fit_80_columns_and_cut_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    models = ", ".join(f"provider:model-{n}" for n in range(9))
    print_entries(
        [entry(AuditAction.RUN_START, ID, "It is full.", suite="hiring", targets=models)], {}
    )
    output = capsys.readouterr().out
    assert max(map(len, output.splitlines())) <= 80
    assert " ".join(output.split()) == (
        f"1 run.start hiring {ID[:12]} 2026-03-04 05:06:07 UTC anna (run) from 10.0.0.3"
        f" models: {models} It failed: It is full."
    )


def test_entries_that_know_an_id_alone_are_called_as_the_store_calls_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    run, written = make_run(suite="hiring"), make_brief(writer=parse_target("simulator:biased"))
    brief = make_brief(writer=None, report="A report.")
    about = [
        (AuditAction.INTERPRETATION_START, written.id, "simulator:biased"),
        (AuditAction.INTERPRETATION_START, brief.id, SUPPLIED_REPORT),
        (AuditAction.INTERPRETATION_START, ID, "an interpretation"),
        (AuditAction.LABELS_SAMPLE, run.id, "hiring"),
        (AuditAction.RUN_CANCEL, run.id, "hiring"),
        (AuditAction.ANSWERS_EXPIRE, run.id, "hiring"),
    ]
    entries = [entry(action, id_) for action, id_, _ in about]
    entries.append(entry(AuditAction.TEXTS_PURGE, run.id, what="run"))
    with Store.open(url) as store:
        store.records.write([run, written, brief])
        names = names_of(entries, store)
    called = [audit_object(row, names) for row in entries]
    assert [row.name for row in called] == [*(name for *_, name in about), "hiring"]
    assert [row.id for row in called] == [row.subject[:12] for row in entries]


def test_an_empty_trail_is_not_called_unchanged() -> None:
    assert "shows nothing" in verified_in_words(0, 0, 0, 0, None)
    assert "unchanged. Record its head elsewhere: 1:ab" in verified_in_words(1, 1, 0, 0, "1:ab")
