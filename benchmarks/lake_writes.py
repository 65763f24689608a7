"""CPU and bytes of a production answer as rows and as files, as the recorder writes both.

The same answers with the features of two extractors are written in batches of 500 rows, and in
files of 2,000 records with their place in the store (`BIASWATCH_RECORDER_ANSWER_FILES`). Words are
random, so that they compress no better than text.
"""

import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import numpy as np

import biaswatch.shared.parquet.files  # noqa: F401 - loading it is not measured
from benchmarks.measuring import cpu_seconds
from biaswatch.shared.contracts import Features, Purpose, Response, derived_id
from biaswatch.shared.store import AnswerFilesLocation, Store, migrate
from tests.support.records import make_features, make_probe, make_response

ANSWERS, STORE_BATCH, FILE_BATCH, WORDS = 20_000, 500, 2_000, 110
VOCABULARY = 4_000
RUN = derived_id("run", "lake_writes")
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
    probe = make_probe(
        number, run_id=RUN, unit_id=f"user-{number % 900}", purpose=Purpose.PRODUCTION,
        position=number,
    )  # fmt: skip
    response = make_response(number, probe=probe, text=text, at=AT, purpose=Purpose.PRODUCTION)
    ids = {"probe_id": probe.id, "response_id": response.id, "run_id": probe.run_id}
    ids["purpose"] = Purpose.PRODUCTION
    common = {"at": AT, "unit_id": probe.unit_id, "baseline": {}, **ids}
    values = rng.random(6).tolist()
    first = dict(zip(("words", "characters", "sentences"), values[:3], strict=True))
    second = {"sentiment": values[3], "negative": values[4], "positive": values[5]}
    return response, (
        make_features(number, values=first, **common),
        make_features(number, values=second, extractor="vader", **common),
    )


def write(
    url: str, pairs: Sequence[Pair], batch: int, place: AnswerFilesLocation | None = None
) -> None:
    """Write answers as the recorder does: responses of some answers, then their measurements."""
    with Store.open(url, place) as store:
        for start in range(0, len(pairs), batch):
            part = pairs[start : start + batch]
            store.records.write([response for response, _ in part])
            store.records.write([record for _, features in part for record in features])


def kept_in(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _prepared(folder: Path) -> str:
    folder.mkdir()
    migrate(url := f"sqlite:///{folder}/store.db")
    return url


def main() -> int:
    """Print the costs per answer of both."""
    pairs = answers()
    size = sum(len(response.text or "") for response, _ in pairs) / len(pairs)
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        rows_url, files_url = (_prepared(folder / name) for name in ("rows", "files"))
        empty = kept_in(folder / "rows")
        rows = cpu_seconds(lambda: write(rows_url, pairs, STORE_BATCH))
        place = AnswerFilesLocation(
            str(folder / "files" / "answers"), lambda: AT, lambda: uuid4().hex
        )
        files = cpu_seconds(lambda: write(files_url, pairs, FILE_BATCH, place))
        kept, in_files = (kept_in(folder / name) - empty for name in ("rows", "files"))
    us = 1e6 / len(pairs)
    print(f"{len(pairs):,} answers of {size:.0f} characters, two extractors of three features each")
    print(f"rows (SQLite)   {rows * us:6.0f} us CPU  {kept / len(pairs):6.0f} bytes an answer")
    print(f"files           {files * us:6.0f} us CPU  {in_files / len(pairs):6.0f} bytes")
    print(f"ratio           {rows / files:6.1f}         {kept / in_files:6.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
