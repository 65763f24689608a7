"""Options of `ll144` that the rule, or one document, does not allow."""

from pathlib import Path

import pytest
from docx import Document
from typer.testing import CliRunner

from biaswatch.cli.application import app
from biaswatch.shared.errors import UsageError


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "applicants.csv"
    rows = [f"{'mf'[n % 2]},{n % 10},{'yes' if n % 3 else 'no'}\n" for n in range(60)]
    path.write_text("sex,score,selected\n" + "".join(rows))
    return path


def refusal(*words: object) -> str:
    ended = CliRunner().invoke(app, ["ll144", *map(str, words)])
    assert isinstance(ended.exception, UsageError), ended.output
    return str(ended.exception)


def test_only_categories_below_2_percent_may_be_left_out(table: Path) -> None:
    words = (table, "--group", "sex", "--score", "score", "--small-share")
    assert refusal(*words, "0.05") == (
        "--small-share: 0.05 is too large: an auditor may leave out only categories with less"
        " than 2 % of the data (6 RCNY 5-301), so the largest value is 0.02."
    )
    assert "at least 0" in refusal(*words, "-0.01")
    allowed = CliRunner().invoke(app, ["ll144", *map(str, words), "0.02"])
    assert allowed.exit_code == 0, allowed.output


def test_a_second_score_is_refused_and_does_not_replace_the_first(table: Path) -> None:
    words = (table, "--group", "sex", "--score", "score", "--score", "selected")
    assert refusal(*words) == (
        "--score: a document is about one score, and 2 are named: run the command once for each."
    )


def test_a_column_of_selections_needs_a_command_of_its_own(table: Path) -> None:
    words = (table, "--group", "sex", "--score", "score", "--config", "both=true")
    assert "run the command once for each column instead" in refusal(*words)


def test_a_column_of_selections_is_named_with_its_word(table: Path) -> None:
    words = ["ll144", str(table), "--group", "sex", "--score", "selected", "--format", "md"]
    output = CliRunner().invoke(app, words).stdout
    assert "Selected: applicants with yes in the column selected." in output
    assert "no score" not in output
    above = CliRunner().invoke(app, [*words, "--selected-at-least", "1"]).stdout
    assert "Selected: applicants with a score of 1 or more." in above


def test_a_word_document_is_of_letter_size_and_of_this_program(table: Path, tmp_path: Path) -> None:
    path = tmp_path / "tables.docx"
    words = ["ll144", str(table), "--group", "sex", "--score", "selected", "-o", str(path)]
    ended = CliRunner().invoke(app, words)
    assert ended.exit_code == 0, ended.output
    document = Document(str(path))
    [section] = document.sections
    properties = document.core_properties
    assert section.page_width is not None
    assert section.page_height is not None
    assert (section.page_width.inches, section.page_height.inches) == (8.5, 11)
    assert (properties.author, properties.title) == ("biaswatch", "applicants.csv")
    assert "python-docx" not in properties.comments
