"""Files that would unfold to more than memory are refused with a sentence, before they do."""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from biaswatch.importing.rows import rows_of
from biaswatch.readers import parquet_files, suites, table_limits
from biaswatch.readers.suites import read_probes
from biaswatch.readers.table_files import frame_of
from biaswatch.shared.errors import UsageError

SMALL = 1024 * 1024
"""Bytes of a file whose content would take gigabytes."""
LITTLE_MEMORY = 64 * 1024 * 1024


def repeated_text(path: Path) -> None:
    indices = pyarrow.array(np.zeros(5_000_000, np.int32))
    column = pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array(["x" * 600_000]))
    pyarrow.parquet.write_table(pyarrow.table({"g": column}), path)


def endless_rows(path: Path) -> None:
    column = pyarrow.nulls(60_000_000, pyarrow.int8())
    pyarrow.parquet.write_table(pyarrow.table({"g": column}), path)


def long_list(path: Path) -> None:
    values = pyarrow.nulls(60_000_000, pyarrow.int8())
    column = pyarrow.ListArray.from_arrays([0, len(values)], values)
    pyarrow.parquet.write_table(pyarrow.table({"g": column}), path)


def many_columns(path: Path) -> None:
    table = pyarrow.table({f"c{number}": [1] for number in range(10_001)})
    pyarrow.parquet.write_table(table, path)


def all_rows(path: Path) -> None:
    """Read a log as `ingest` does, of which `endless_rows` are only too many to wait for."""
    for count, _ in enumerate(rows_of(path)):
        if count > 1_000:
            raise UsageError(
                "These rows are read in parts; a table at most: cells, and a table at most"
            )


@pytest.mark.parametrize("write", [repeated_text, endless_rows, long_list])
@pytest.mark.parametrize("read", [frame_of, read_probes, all_rows])
def test_a_small_parquet_file_that_unfolds_to_gigabytes_is_refused(
    tmp_path: Path, write: Callable[[Path], None], read: Callable[[Path], object]
) -> None:
    path = tmp_path / "bomb.parquet"
    write(path)
    assert path.stat().st_size < SMALL
    before = pyarrow.total_allocated_bytes()
    tracemalloc.start()
    with pytest.raises(
        UsageError, match=r"cells, and a table at most|decodes to more than|rows of more than"
    ):
        read(path)
    assert tracemalloc.get_traced_memory()[1] < LITTLE_MEMORY
    tracemalloc.stop()
    assert pyarrow.total_allocated_bytes() - before < LITTLE_MEMORY


def test_columns_of_lists_are_left_out_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "nested.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"g": ["a"], "all": [[1, 2]]}), path)
    assert list(frame_of(path).columns) == ["g"]


def test_too_many_columns_are_refused(tmp_path: Path) -> None:
    many_columns(tmp_path / "wide.parquet")
    (tmp_path / "wide.csv").write_text(",".join(map(str, range(10_001))) + "\n")
    (tmp_path / "wide-row.csv").write_text("a,b\n" + "1," * 1_000_000 + "\n")
    (tmp_path / "wide.jsonl").write_text(json.dumps({str(n): n for n in range(10_001)}) + "\n")
    for name in ("wide.parquet", "wide.csv", "wide-row.csv", "wide.jsonl"):
        with pytest.raises(UsageError, match=f"{name} has more than 10,000 columns"):
            frame_of(tmp_path / name)
    for name in ("wide.parquet", "wide.csv"):
        with pytest.raises(UsageError, match="more than 1,000 columns"):
            read_probes(tmp_path / name)


def test_rows_that_each_have_a_column_of_their_own_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_limits, "MOST_CELLS", 1_000)
    path = tmp_path / "diagonal.jsonl"
    path.write_text("".join(f'{{"c{number}": 1}}\n' for number in range(40)))
    with pytest.raises(UsageError, match="more than 1,000 cells"):
        frame_of(path)


def test_a_table_larger_than_its_bound_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_limits, "LARGEST_BYTES", 1024 * 1024)
    for ending in ("csv", "jsonl", "parquet"):
        path = tmp_path / f"large.{ending}"
        with path.open("wb") as file:
            file.truncate(3 * 1024 * 1024)
        with pytest.raises(UsageError, match="has 3 MiB; the limit is 1 MiB"):
            frame_of(path)


def test_a_cell_longer_than_any_text_is_refused_in_the_first_lines(tmp_path: Path) -> None:
    path = tmp_path / "cell.csv"
    path.write_text('a,b\n"' + "x" * 500_000 + '",1\n')
    with pytest.raises(UsageError, match="a cell of the first two lines"):
        frame_of(path)
    with pytest.raises(UsageError, match="field larger than field limit"):
        read_probes(path)


def test_probes_have_a_bound_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suites, "MOST_CELLS", 10)
    path = tmp_path / "probes.csv"
    path.write_text("key,prompt\n" + "a,b\n" * 11)
    with pytest.raises(UsageError, match="more than a suite can have"):
        read_probes(path)


def test_parquet_counts_a_text_each_time_a_column_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_files, "MOST_BYTES", 1_000_000)
    path = tmp_path / "texts.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"g": ["x" * 1000] * 900}), path)
    assert len(frame_of(path)) == 900
    pyarrow.parquet.write_table(pyarrow.table({"g": ["x" * 1000] * 1_100}), path)
    with pytest.raises(UsageError, match="decodes to more than"):
        frame_of(path)


@pytest.mark.parametrize("text", ["a,b\n" + "," * 40_000_000, "a,b\n" + '"\n",' * 8_000_000])
def test_a_row_of_a_log_without_end_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match="a row has more than 16 MiB"):
        list(rows_of(path))
