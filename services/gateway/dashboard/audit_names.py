"""Names of what audit entries know by its id alone: runs by suites, interpretations by writers."""

from collections.abc import Iterable

from biaswatch.shared.contracts import AuditEntry, Brief, Run
from biaswatch.shared.presentation.audit_words import is_about_a_run, kind_of
from biaswatch.shared.store import Store

GIVEN_REPORT = "a given report"
"""What an interpretation is called that no model wrote."""


def names_of(entries: Iterable[AuditEntry], store: Store) -> dict[str, str]:
    """Return what runs and interpretations are called, by their ids; those that are gone are not.

    It blocks, so call it in a thread.
    """
    entries = list(entries)
    runs = {each.subject for each in entries if is_about_a_run(each)}
    briefs = {each.subject for each in entries if kind_of(each) == "interpretation"}
    found = {each.id: each.suite for each in store.records.get(Run, runs)}
    return found | {each.id: _called(each) for each in store.records.get(Brief, briefs)}


def _called(brief: Brief) -> str:
    return brief.writer.name if brief.writer else GIVEN_REPORT
