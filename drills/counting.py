"""Counts of records that a store lacks or has twice."""

from collections import Counter
from collections.abc import Collection, Sequence

from biaswatch.shared.contracts import Features, Response, Run
from biaswatch.shared.store import Store
from drills.outcome import Outcome
from tests.support.disturbed_traffic import Senders
from tests.support.exact_study import MEASURES, ExactStudy

MOST_WINDOWS = 10_000


def of_run(store: Store, run_id: str, keys: Collection[str], extractors: Sequence[str]) -> Outcome:
    """Count answers and measurements of a run, one of each for every question."""
    responses = list(store.records.read(Response, run_id=run_id))
    key_of = {response.id: response.probe.key for response in responses}
    answers = Counter(response.probe.key for response in responses)
    measured = Counter(
        (key_of.get(features.response_id), features.extractor)
        for features in store.records.read(Features, run_id=run_id)
    )
    due = [(key, extractor) for key in keys for extractor in extractors]
    lost = sum(not answers[key] for key in keys) + sum(not measured[pair] for pair in due)
    counts = (*answers.values(), *measured.values())
    return Outcome(len(keys) + len(due), lost, sum(count - 1 for count in counts))


def of_study(store: Store, study: ExactStudy, run: Run) -> Outcome:
    """Count a run of a study, and compare its findings with those of an undisturbed run."""
    keys = [probe.key for probe in study.suite.probes]
    counted = of_run(store, run.id, keys, tuple(MEASURES))
    return counted + Outcome(faults=tuple(study.faults(store, run)))


def of_traffic(store: Store, monitor_id: str, senders: Senders) -> Outcome:
    """Count the answers that live systems sent: each is in one account, and stored once."""
    accounts = store.window_answers.accounts(monitor_id)
    stored: Counter[str] = Counter()
    for window in store.window_answers.latest(monitor_id, MOST_WINDOWS):
        ids = set(store.window_answers.members(window.of.run_id) or ())
        stored.update(response.probe.key for response in store.records.get(Response, ids))
    sent = {answer.id for answer in senders.answers}
    faults = [f"{accounts.refused} answers were refused."] if accounts.refused else []
    if foreign := stored.keys() - sent:
        faults.append(f"{len(foreign)} stored answers were never sent.")
    lost = len(sent) - len(sent & stored.keys()) - accounts.late
    twice = sum(count - 1 for count in stored.values()) + max(0, -lost)
    return Outcome(len(sent), max(0, lost), twice, faults=tuple(faults))
