"""CPU and bytes of a production answer in the row store, and as Parquet micro-batches.

The same answers with two extractors' features, each way: responses and features as the recorder
writes them, in batches of 256; and rows of 5,000 answers in one file with a manifest row in the
store, as traffic straight to the lake would be written. Words are drawn at random, so that they
compress no better than text does.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

from shared.contracts import Features, Record, Response
from shared.store import Store, migrate
from shared.store.archive_files import ArchiveFile
from tests.support.records import make_features, make_probe, make_response

ANSWERS, STORE_BATCH, FILE_BATCH, WORDS = 10_000, 256, 5_000, 110
VOCABULARY = 4_000
AT = datetime(2026, 6, 1, tzinfo=UTC)
Pair = tuple[Response, tuple[Features, Features]]


def answers() -> list[Pair]:
    """Make answers of about 600 characters to questions of 60, each measured twice."""
    rng = np.random.default_rng(3)
    letters = np.array(list("etaoinshrdlu"))
    words = ["".join(rng.choice(letters, rng.integers(2, 9))) for _ in range(VOCABULARY)]
    drawn = np.minimum(rng.zipf(1.3, (ANSWERS, WORDS)), VOCABULARY) - 1
    return [_pair(n, " ".join(words[place] for place in row), rng) for n, row in enumerate(drawn)]


def _pair(number: int, text: str, rng: np.random.Generator) -> Pair:
    probe = make_probe(number, run_id=f"{number // 5000:032x}", unit_id=f"user-{number % 900}")
    response = make_response(number, probe=probe, text=text, at=AT)
    ids = {"probe_id": probe.id, "response_id": response.id, "run_id": probe.run_id}
    of = {"at": AT, "unit_id": probe.unit_id, "baseline": {}, **ids}
    values = rng.random(6).tolist()
    first = dict(zip(("words", "characters", "sentences"), values[:3], strict=True))
    second = {"sentiment": values[3], "negative": values[4], "positive": values[5]}
    return response, (
        make_features(number, values=first, **of),
        make_features(number, values=second, extractor="vader", **of),
    )


def measured(work: Callable[[], None]) -> float:
    """Return the CPU time of some work, in seconds."""
    began = time.process_time()
    work()
    return time.process_time() - began


def store_rows(url: str, made: Sequence[Pair]) -> None:
    """Write answers as the recorder does."""
    with Store.open(url) as store:
        for start in range(0, len(made), STORE_BATCH):
            some = made[start : start + STORE_BATCH]
            store.records.write(records_of(some))


def records_of(some: Iterable[Pair]) -> Iterable[Record]:
    """Return the records of some answers."""
    for response, features in some:
        yield response
        yield from features


def write_files(url: str, folder: Path, made: Sequence[Pair]) -> None:
    """Write answers as files, each with a row of a manifest that is committed with it."""
    with Store.open(url) as store:
        for start in range(0, len(made), FILE_BATCH):
            rows = [_row(*each) for each in made[start : start + FILE_BATCH]]
            path = folder / f"{start}.parquet"
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path, compression="zstd")
            store.archive_files.name(
                ArchiveFile(
                    f"{start:032x}",
                    path.name,
                    "default",
                    "traffic",
                    "2026-06-01",
                    len(rows),
                    digest="",
                    verified=True,
                    doomed=False,
                    purged_at=AT,
                )
            )


def _row(response: Response, features: Sequence[Features]) -> dict[str, object]:
    probe = response.probe
    row: dict[str, object] = {
        "id": response.id, "run_id": probe.run_id, "key": probe.key, "at": response.at,
        "unit": probe.unit_id, "question": str(probe.messages[0].content), "text": response.text,
        **{f"groups.{name}": group for name, group in probe.groups.items()},
    }  # fmt: skip
    for each in features:
        row |= {f"{each.extractor}.{name}": value for name, value in each.values.items()}
    return row


def main() -> int:
    """Print both ways, an answer each."""
    made = answers()
    size = sum(len(response.text or "") for response, _ in made) / len(made)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        urls = [f"sqlite:///{folder / each}.db" for each in ("rows", "manifest")]
        for url in urls:
            migrate(url)
        empty = (folder / "manifest.db").stat().st_size
        rows = measured(lambda: store_rows(urls[0], made))
        (folder / "files").mkdir()
        files = measured(lambda: write_files(urls[1], folder / "files", made))
        kept = (folder / "rows.db").stat().st_size - empty
        in_files = sum(path.stat().st_size for path in (folder / "files").iterdir())
    each = 1e6 / len(made)
    print(f"{len(made):,} answers of {size:.0f} characters, two extractors of three features each")
    print(f"row store (SQLite)  {rows * each:6.0f} us CPU  {kept / len(made):6.0f} bytes an answer")
    print(f"Parquet with zstd   {files * each:6.0f} us CPU  {in_files / len(made):6.0f} bytes")
    print(f"ratio               {rows / files:6.1f}         {kept / in_files:6.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
