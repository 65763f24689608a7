"""The verbs for BBQ: fetched whole or not at all, suites that read back as they were written."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from biaswatch.bbq.rows import ROWS, read_rows, rows_of
from biaswatch.bbq.suite import suite_of
from biaswatch.cli.application import app
from biaswatch.readers.suites import load_suite
from biaswatch.shared.errors import UsageError
from tests.support.bbq_rows import make_bbq_row

CATEGORY = "Sexual_orientation"


def lines(count: int) -> str:
    rows = (make_bbq_row(number, category=CATEGORY) for number in range(count))
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def source(request: pytest.FixtureRequest) -> Iterator[str]:
    """Serve one category with so many rows over real HTTP."""
    body = lines(request.param).encode()

    class Serve(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = self.path == f"/{CATEGORY}.jsonl"
            self.send_response(200 if known else 404)
            self.end_headers()
            if known:
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Serve)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def fetch(source: str, folder: Path, category: str = CATEGORY) -> None:
    arguments = ["suites", "fetch", "bbq", "--category", category, "--to", str(folder)]
    result = CliRunner().invoke(app, [*arguments, "--source", source])
    if result.exception:
        raise result.exception


@pytest.mark.parametrize("source", [ROWS[CATEGORY]], indirect=True)
def test_a_fetched_category_becomes_a_suite_that_reads_back_as_it_was(
    source: str, tmp_path: Path
) -> None:
    fetch(source, tmp_path / "data")
    fetch("http://127.0.0.1:1", tmp_path / "data")  # whole already: nobody is asked
    arguments = ["--from", str(tmp_path / "data"), "--seed", "7", "-o", str(tmp_path / "suite")]
    result = CliRunner().invoke(app, ["suites", "make", "bbq", *arguments])
    assert result.exit_code == 0
    assert f"{ROWS[CATEGORY]} questions, {ROWS[CATEGORY] // 2} pairs" in result.output
    rows = list(read_rows(tmp_path / "data" / f"{CATEGORY}.jsonl"))
    assert load_suite(tmp_path / "suite").hash == suite_of(rows, seed=7).hash


@pytest.mark.parametrize("source", [10], indirect=True)
def test_a_file_that_was_cut_off_is_refused_and_not_kept(source: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds 10 rows"):
        fetch(source, tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UsageError, match="HTTP 404"):
        fetch(source, tmp_path, "Age")
    with pytest.raises(UsageError, match="Unknown category 'Ages'"):
        fetch(source, tmp_path, "Ages")


def test_items_of_another_form_are_refused_with_a_sentence() -> None:
    with pytest.raises(UsageError, match="item 1, question_polarity"):
        rows_of([{**make_bbq_row(), "question_polarity": "odd"}], "hub", CATEGORY)
    with pytest.raises(UsageError, match="holds 1 rows"):
        rows_of([make_bbq_row()], "hub", CATEGORY)


def test_contexts_that_make_no_pair_are_named(tmp_path: Path) -> None:
    rows = [make_bbq_row(0), make_bbq_row(1), make_bbq_row(2)]
    (tmp_path / "Own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["suites", "make", "bbq", "--from", str(tmp_path), "-o", str(tmp_path / "suite")]
    result = CliRunner().invoke(app, arguments)
    assert "1 contexts form no pair: 1 rows share the context (Regions-2" in result.output
    assert "3 questions, 1 pairs" in result.output
