"""Removing texts from the store: what may be removed, and removing it."""

from dataclasses import dataclass
from datetime import datetime

from biaswatch.shared.contracts import RUN_GATHER, Run
from biaswatch.shared.contracts.identity import pseudonym_of
from biaswatch.shared.errors import NotFoundError, UsageError
from biaswatch.shared.requests.administration import PurgeRequest
from biaswatch.shared.store import Store


def check_purge(store: Store, request: PurgeRequest) -> None:
    """Refuse a run that is unknown, or under way: what it still asks would bring texts back.

    Raises
    ------
    NotFoundError
        There is no such run in the scope of the store.
    UsageError
        It is under way.
    """
    run = request.run
    if run is None:
        return
    if store.records.missing(Run, [run]):
        raise NotFoundError(f"There is no run {run}. `biaswatch runs` lists them.")
    waiting = store.gathers(RUN_GATHER).look(run)
    if waiting and waiting.closed_by is None:
        raise UsageError(f"The run {run} is under way. Cancel it first: `biaswatch cancel {run}`.")


@dataclass(frozen=True)
class RemovedTexts:
    """What a purge of the store removed."""

    texts: int
    """Texts of records."""
    prompts: int = 0
    """Probes of stored suites whose texts are gone."""
    archived: int = 0
    """Texts of records in the archive."""


def purge_texts(store: Store, request: PurgeRequest, now: datetime) -> RemovedTexts:
    """Remove texts in the scope of the store, also from what SQLite has not written back yet."""
    removed = _removed_texts(store, request, now)
    store.empty_write_ahead_log()
    return removed


def _removed_texts(store: Store, request: PurgeRequest, now: datetime) -> RemovedTexts:
    if request.run is not None:
        return RemovedTexts(store.purges.run(request.run, now))
    if request.unit is not None:
        # First what keeps them from being stored again, then those that are there. Redaction at
        # intake may have put a pseudonym in place of the unit's name.
        names = (request.unit, pseudonym_of(request.unit))
        texts = sum(store.purges.unit(name, now) for name in names)
        texts += sum(store.purges.pair(name, now) for name in store.suites.sets_of(request.unit))
        texts += store.answer_parts.purge_units(names)
        return RemovedTexts(texts, store.suites.purge_unit(request.unit))
    assert request.before is not None  # noqa: S101 - one of the three is given
    texts = store.purges.before(request.before, now)
    return RemovedTexts(texts + store.answer_parts.purge_before(request.before))


def remains_of(request: PurgeRequest) -> str:
    """Return what a purge of the store leaves, and where."""
    kept = (
        "Numbers, groups, keys and ids remain, as do files outside: suites, recordings, reports,"
        " backups of the store."
    )
    if request.unit is not None:
        return (
            "A question of the unit may still be among the options that judges chose from for"
            f" other pairs: purge those runs to remove it. {kept}"
        )
    return (
        "The prompts of stored suites remain, since other runs ask them: purge their units to"
        f" remove those. {kept}"
    )
