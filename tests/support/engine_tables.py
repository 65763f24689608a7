"""Tables for engines, and engines that run in an environment of their own."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from biaswatch.engines.queries import CLICKHOUSE, DUCKDB, POSTGRESQL, SPARK
from biaswatch.engines.summed_diagnosis import EngineTable

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-engines" / "bin" / "python"
DIALECTS = {dialect.name: dialect for dialect in (DUCKDB, SPARK, POSTGRESQL, CLICKHOUSE)}
FEATURES = ("words", "sentiment", "refused")
NEEDED = "no engines: `make .venv-engines/.installed` installs moto, Spark and ClickHouse"


def make_table(rows: int = 12_000, seed: int = 7) -> pd.DataFrame:
    """Make answers of three teams in two languages, with missing and infinite values."""
    rng = np.random.default_rng(seed)
    team = rng.choice(["a", "b", "c"], rows, p=[0.5, 0.3, 0.2])
    moved = (team == "b") * 0.1
    frame = pd.DataFrame(
        {
            "team": team,
            "language": rng.choice(["de", "en"], rows),
            "user": [
                f"{t}{n}" for t, n in zip(team, rng.integers(0, rows // 2, rows), strict=True)
            ],
            "words": rng.poisson(120, rows).astype(float) + 1e6,
            "sentiment": np.tanh(rng.normal(moved, 0.5)),
            "refused": (rng.random(rows) < 0.2).astype(float),
        }
    )
    frame.loc[rng.random(rows) < 0.03, "sentiment"] = np.nan
    frame.loc[5, "words"] = np.inf
    frame["team"] = frame["team"].where(rng.random(rows) < 0.99, None)
    return frame


def write_parquet(frame: pd.DataFrame, folder: Path, files: int = 3) -> Path:
    """Write a table as several files of a folder."""
    folder.mkdir()
    for number in range(files):
        frame.iloc[number::files].to_parquet(folder / f"part-{number}.parquet", index=False)
    return folder


@contextmanager
def engine(name: str, source: str) -> Iterator[EngineTable]:
    """Run an engine in its environment; skip where that is not installed."""
    if not PYTHON.exists():
        pytest.skip(NEEDED)
    if name == "spark" and shutil.which("java") is None:
        pytest.skip("no engines: Spark needs a JRE, version 17 or later")
    process = subprocess.Popen(
        [PYTHON, ROOT / "tests" / "engines" / "answer_queries.py", name],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdin
    assert process.stdout
    asked, answers = process.stdin, process.stdout

    def run(sql: str) -> list[Any]:
        asked.write(json.dumps(sql) + "\n")
        asked.flush()
        line = answers.readline()
        assert line, f"{name} does not answer: {sql[:2000]}"
        return list(json.loads(line))

    try:
        assert answers.readline() == "ready\n"
        yield EngineTable(run, source, DIALECTS[name])
    finally:
        asked.close()
        answers.close()
        process.wait()
