"""Whatever a file holds, it is read or refused with a sentence: no traceback, and no hang."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from biaswatch.bbq.rows import read_rows
from biaswatch.building.build_files import load_plan
from biaswatch.importing.log_files import LogFile
from biaswatch.importing.sent_answers import answers_in
from biaswatch.readers.cases import CasesQuestion, count_cases, row_filter
from biaswatch.readers.suites import load_monitor, load_suite, read_probes
from biaswatch.readers.tables import TableColumns
from biaswatch.services.gateway.callers import read_tokens_file
from biaswatch.services.gateway.traffic.intake_files import mapping_of, redaction_of
from biaswatch.shared.llm.http_app import read_application
from biaswatch.shared.llm.replay import read_recording
from tests.support.fuzzing import (
    as_written,
    bounded,
    cut_or_spoiled_bytes,
    odd_texts,
    odd_values,
    spoiled,
    succeeds_or_says_why,
    write,
)
from tests.support.tables import observations

ROOT = Path(__file__).parents[3]
SUITE = {
    "name": "odd", "extractors": ["words"], "features": ["words"], "claim": "bank",
    "ranges": {"words": [0, 9]}, "compared": "auto", "strata": ["kind"],
    "selected_at_least": {"words": 1}, "variables": {"question": "?"},
    "probes": [
        {"key": "a", "prompt": "?", "groups": {"race": "x"}, "set": "s", "unit": "u",
         "expected": "y", "baseline": "z", "facts": {"kind": "k"}, "keyword": "w"},
        {"key": "b", "messages": [{"role": "user", "content": "?"}], "facts": {"kind": "l"}},
    ],
}  # fmt: skip
MONITOR = yaml.safe_load((ROOT / "examples" / "traffic.yaml").read_text())
PLAN = yaml.safe_load((ROOT / "suites" / "countries" / "plan.yaml").read_text())
APPLICATION = {"url": "https://a.example/ask", "request": {"q": "{prompt}", "s": ["{system}"]},
               "answer": "/reply/0/text", "headers": {"X-A": "b"}}  # fmt: skip
TOKENS = {
    "tokens": [{"name": "a", "role": "run", "tenant": "t", "texts": True, "verifier": "0" * 64,
                "expires": "2027-01-31T00:00:00+00:00"}],
    "groups": [{"group": "g", "role": "read", "tenant": "t"}], "proxies": [],
}  # fmt: skip
REDACTION = {"built_in": ["email"], "patterns": {"order": r"\bORD-\d{4,8}\b"}}
RECORDED = {
    "key": "a", "scaffold": "direct", "repeat": 0, "text": "Rating: 3", "finish_reason": "stop",
    "steps": [{"name": "criterion:a", "rating": 3}, {"name": "s", "text": "x"}],
}  # fmt: skip
EXCHANGE = {
    "id": "e",
    "at": "2026-03-04T05:06:07Z",
    "prompt": "?",
    "text": "!",
    "groups": {"a": "b"},
}
BBQ = {
    "example_id": 1, "category": "Age", "question_polarity": "neg", "context_condition": "ambig",
    "context": "c", "question": "q", "ans0": "a", "ans1": "b", "ans2": "c", "label": 2,
    "answer_info": {"ans0": ["a", "old"], "ans1": ["b", "nonOld"], "ans2": ["c", "unknown"]},
    "additional_metadata": {"stereotyped_groups": ["old"], "subcategory": "None"},
}  # fmt: skip
COLUMNS = TableColumns(groups=["g"], features=["x"], unit="u", domains=["d"], baseline="b")
READERS: dict[str, tuple[Any, Callable[[Path], object]]] = {
    "suite.yaml": (SUITE, load_suite),
    "monitor.yaml": (MONITOR, load_monitor),
    "plan.yaml": (PLAN, load_plan),
    "application.yaml": (APPLICATION, read_application),
    "tokens.yaml": (TOKENS, read_tokens_file),
    "redaction.yaml": (REDACTION, redaction_of),
    "mapping.yaml": ({"unit": ["user.id"], "groups": {"race": ["x"]}}, mapping_of),
    "recorded.jsonl": (RECORDED, read_recording),
    "answers.jsonl": (EXCHANGE, lambda path: list(answers_in(LogFile(path)))),
    "rows.jsonl": (BBQ, lambda path: list(read_rows(path))),
    "probes.jsonl": (SUITE["probes"][0], read_probes),  # type: ignore[index]
    "table.jsonl": (
        {"g": "a", "x": 1.5, "u": 1, "d": "e", "b": 2},
        lambda p: observations(p, COLUMNS),
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_a_file_without_faults_is_read(tmp_path: Path, name: str) -> None:
    sample, read = READERS[name]
    read(write(tmp_path / name, as_written(sample)))


@pytest.mark.parametrize("name", READERS)
@bounded
@given(data=st.data())
def test_a_file_with_odd_values_is_read_or_refused(
    tmp_path: Path, name: str, data: st.DataObject
) -> None:
    sample, read = READERS[name]
    path = write(tmp_path / name, as_written(data.draw(spoiled(sample))))
    succeeds_or_says_why(lambda: read(path))


@pytest.mark.parametrize("name", READERS)
@bounded
@given(data=st.data())
def test_a_file_that_is_cut_or_spoiled_is_read_or_refused(
    tmp_path: Path, name: str, data: st.DataObject
) -> None:
    sample, read = READERS[name]
    written = yaml.safe_dump(sample) if name.endswith("yaml") else as_written(sample)
    path = tmp_path / name
    path.write_bytes(data.draw(cut_or_spoiled_bytes(written.encode())))
    succeeds_or_says_why(lambda: read(path))


cells = odd_texts | st.floats().map(repr) | st.integers().map(str) | st.sampled_from(["a", "1"])
rows_of_cells = st.lists(st.lists(cells, max_size=7), max_size=8)
names = st.lists(st.sampled_from(["g", "x", "u", "d", "b", "", "y"]) | odd_texts, max_size=7)
TABLE = b"g,x,u,d,b\na,1,1,e,2\nb,2,2,e,2\na,3,1,e,2\nb,4,2,e,2\n"


@bounded
@given(head=names, rows=rows_of_cells)
def test_a_table_of_any_cells_is_read_or_refused(
    tmp_path: Path, head: list[str], rows: list[list[str]]
) -> None:
    written = io.StringIO()
    csv.writer(written).writerows([head, *rows])
    path = write(tmp_path / "table.csv", written.getvalue())
    succeeds_or_says_why(lambda: observations(path, COLUMNS))
    succeeds_or_says_why(lambda: read_probes(path))
    condition = row_filter("x>=1")
    question = CasesQuestion("g", ("a", "b"), condition, strata="d", adjust=("u",))
    succeeds_or_says_why(lambda: count_cases(path, question))


@bounded
@given(spoilt=cut_or_spoiled_bytes(TABLE))
def test_a_table_that_is_cut_or_spoiled_is_read_or_refused(tmp_path: Path, spoilt: bytes) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(spoilt)
    succeeds_or_says_why(lambda: observations(path, COLUMNS))
    succeeds_or_says_why(lambda: read_probes(path))


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("parquet") / "table.parquet"
    pd.read_csv(io.BytesIO(TABLE)).to_parquet(path)
    return path.read_bytes()


@bounded
@given(data=st.data())
def test_a_parquet_file_that_is_cut_or_spoiled_is_read_or_refused(
    tmp_path: Path, parquet: bytes, data: st.DataObject
) -> None:
    path = tmp_path / "table.parquet"
    path.write_bytes(data.draw(cut_or_spoiled_bytes(parquet)))
    succeeds_or_says_why(lambda: observations(path, COLUMNS))
    succeeds_or_says_why(lambda: read_probes(path))


@bounded
@given(row=st.dictionaries(st.sampled_from("gxudb"), odd_values, min_size=3), more=odd_values)
def test_a_table_of_json_lines_is_read_or_refused(tmp_path: Path, row: Any, more: Any) -> None:
    lines = [as_written({**row, "y": more}), as_written(row), as_written({"g": "a", "x": 1})]
    path = write(tmp_path / "table.jsonl", "\n".join(lines))
    succeeds_or_says_why(lambda: observations(path, COLUMNS))
