"""Stores with runs that are over, and what is left when whoever archives them dies on the way."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from biaswatch.shared.contracts import RUN_GATHER, Features, Probe, Record, Response
from biaswatch.shared.parquet.folder import ParquetFolder
from biaswatch.shared.store import Store
from tests.support.records import AT, make_features, make_probe, make_response, make_run

CLOSED = AT + timedelta(hours=1)
LATER = datetime(2027, 1, 1, tzinfo=UTC)
KINDS: tuple[type[Record], ...] = (Response, Features, Probe)
ANSWERS = 7


class DiedError(BaseException):
    """What a kill is to the code that runs: nothing catches it."""


def keep_ended_run(store: Store, *, answers: int = ANSWERS) -> str:
    """Store a run that has ended, its answers over two days; return its id."""
    run = make_run()
    records: list[Record] = [run]
    for number in range(answers):
        at = AT + timedelta(days=number % 2)
        probe = make_probe(number, run_id=run.id, at=at, groups={"race": "ab"[number % 2]})
        response = make_response(number, probe=probe, at=at)
        measured = make_features(
            number, run_id=run.id, probe_id=probe.id, response_id=response.id, at=at
        )
        records += [response, measured]
    store.records.write(records)
    end_run(store, run.id)
    return run.id


def end_run(store: Store, run_id: str) -> None:
    """Close what waits for a run, and note it."""
    gathers = store.gathers(RUN_GATHER)
    gathers.begin(run_id, 0, deadline=CLOSED, now=CLOSED, context={"tenant": "default"}, cursors=[])
    for closing in gathers.due():
        gathers.emitted(closing.key, CLOSED)
        gathers.recorded(closing.key, closing.opening, CLOSED)


def answers_in(store: Store, run_id: str) -> list[Record]:
    """Return everything of a run that an archive takes, with its texts."""
    return [item for kind in KINDS for item in store.records.read(kind, run_id=run_id)]


def files_below(folder: Path) -> list[str]:
    """Return the files below a folder, by their paths."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


class DyingAt:
    """Dies at the n-th step that a store or a folder is asked for."""

    def __init__(self, step: int) -> None:
        self._left = step

    def wrap(self, wrapped: Any, names: tuple[str, ...]) -> None:
        """Have every call of these methods be a step."""
        for name in names:
            setattr(wrapped, name, self._dying(getattr(wrapped, name)))

    def _dying(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any, **named: Any) -> Any:
            self._left -= 1
            if self._left == 0:
                raise DiedError
            return method(*given, **named)

        return called


def deaths(store_url: str, uri: str) -> Iterator[tuple[Store, ParquetFolder]]:
    """Yield a store and a folder that die one step later each time, for ever."""
    step = 0
    while True:
        step += 1
        with Store.open(store_url) as store:
            folder, dying = ParquetFolder(uri), DyingAt(step)
            dying.wrap(
                store.archive_files, ("register", "verify", "replace", "forget", "mark_purged")
            )
            dying.wrap(store.archive_rows, ("remove", "put_back", "put_texts_back"))
            dying.wrap(store.archived_runs, ("begin", "note", "forget"))
            dying.wrap(folder, ("written", "remove"))
            yield store, folder
