"""Reports for office programs and boards: files that open, one page, and no formula or markup."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from docx import Document
from openpyxl import load_workbook
from pypdf import PdfReader

from biaswatch.local.runs import RunResults
from biaswatch.render import printed
from biaswatch.render.impact_rows import rule_name
from biaswatch.render.ll144 import ImpactFormat, case_document
from biaswatch.render.office import check_can_write
from biaswatch.render.report import ReportFormat, report_text, written_report
from biaswatch.shared.contracts import Estimate, Gap, Verdict
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.studies.local_law_144 import impact_tables
from tests.support.records import make_diagnosis, make_progress, make_provenance

HOSTILE = '=cmd|"<script>alert(1)</script>"'
SCOPE = "about these names and texts"
GAP = Estimate(value=-0.5, low=-0.8, high=-0.2)
RUN = make_progress(suite="countries", targets=["replay:answers"])
RESULTS = RunResults(
    RUN,
    [
        make_diagnosis(
            gaps=(
                Gap(a=HOSTILE, b="Peru", gap=GAP, verdict=Verdict.DISPARITY, scope=SCOPE),
                Gap(a="Chile", b="Peru", gap=GAP, verdict=Verdict.INCONCLUSIVE),
            )
        )
    ],
    provenance=make_provenance(),
)


def test_a_word_document_opens_with_its_result_picture_and_tables(tmp_path: Path) -> None:
    path = tmp_path / "r.docx"
    written_report(ReportFormat.DOCX, RESULTS, report_text(ReportFormat.DOCX, RESULTS, []), path)
    document = Document(str(path))
    paragraphs = [paragraph.text for paragraph in document.paragraphs]
    assert paragraphs[0] == "countries"
    assert "Disparity in 1 of 2 comparisons." in paragraphs
    assert any(HOSTILE in paragraph for paragraph in paragraphs)
    assert len(document.inline_shapes) == 1
    cells = [cell.text for table in document.tables for cell in table.rows[0].cells]
    assert "group" in cells
    assert not any("details" in paragraph for paragraph in paragraphs)


def test_a_workbook_has_the_result_and_unrounded_numbers_and_no_formula(tmp_path: Path) -> None:
    path = tmp_path / "r.xlsx"
    written_report(ReportFormat.XLSX, RESULTS, "", path)
    book = load_workbook(path)
    result = {row[0]: row[1] for row in book["result"].values}
    assert result["in a sentence"] == "Disparity in 1 of 2 comparisons."
    titles, first, *_ = book["comparisons"].values
    assert dict(zip(titles, first, strict=True))["gap"] == GAP.value
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert not [cell for cell in cells if cell.data_type == "f" or cell.value == "None"]


def test_a_workbook_of_impact_ratios_has_a_sheet_for_each_table(tmp_path: Path) -> None:
    labels = {"sex": ["f", "m"] * 50, "race/ethnicity": ["white", "white", "black", "black"] * 25}
    tables = impact_tables([0.0, 1.0, 1.0, 1.0] * 25, labels, selected_at_least=1)
    path = tmp_path / "tables.xlsx"
    case_document("tool", "score", [tables], applicant="a row").write_workbook(path)
    book = load_workbook(path)
    assert book.sheetnames == ["cover", "sex", "race ethnicity", "sex x race ethnicity", "data"]
    female = list(book["sex"].rows)[1]
    assert [cell.value for cell in female[:5]] == ["Female (f)", 50, 25, 0.5, 0.5]
    assert [cell.number_format for cell in female[3:5]] == ["0.0%", "0.00"]
    assert female[6].value.startswith("below 0.80; ")


def test_ratios_to_a_small_category_are_pointed_out() -> None:
    labels = {"sex": ["f"] * 50 + ["m"] * 46 + ["x"] * 4}
    tables = impact_tables([0.0, 1.0] * 48 + [1.0] * 4, labels, selected_at_least=1)
    text = case_document("tool", "score", [tables], applicant="a row").as_text(ImpactFormat.MD)
    assert "All ratios are to the rate of x. That rate rests on 4 applicants, so every" in text
    assert "--" not in text.replace("---", "")
    assert "Selected: applicants with a score of 1 or more." in text


def test_a_board_reads_one_page_with_the_picture(tmp_path: Path) -> None:
    page = report_text(ReportFormat.HTML, RESULTS, [], board=True)
    assert '<figure class="forest">' in page
    assert f"(between 0.2 and 0.8), {SCOPE}." in page
    assert "1 of 2 comparisons are inconclusive: no all-clear." in page
    assert "<script" not in page
    assert "not an all-clear" not in page
    try:
        printed.pdf_printer()
    except UsageError:
        pytest.skip("no printer: neither Pango nor Chromium is installed")
    path = tmp_path / "board.pdf"
    written_report(ReportFormat.PDF, RESULTS, page, path)
    [only] = PdfReader(path).pages
    assert "Next steps" in only.extract_text()


def test_the_longest_names_and_many_models_fit_on_the_page_for_a_board(tmp_path: Path) -> None:
    targets = [f"openai:{'m' * 80}{n}" for n in range(40)]
    gaps = tuple(
        Gap(a=f"{'G' * 90}{n}", b="W" * 100, gap=GAP, verdict=Verdict.DISPARITY) for n in range(12)
    )
    diagnoses = [
        make_diagnosis(target=target, feature=feature, gaps=gaps)
        for target in targets
        for feature in ("words", "sentiment", "regard")
    ]
    run = make_progress(suite="s" * 100, targets=targets)
    assert RESULTS.provenance
    behind = RESULTS.provenance.model_copy(update={"about": "A long text. " * 50})
    results = replace(RESULTS, run=run, diagnoses=diagnoses, provenance=behind)
    page = report_text(ReportFormat.HTML, results, [], board=True)
    try:
        printed.pdf_printer()
    except UsageError:
        pytest.skip("no printer: neither Pango nor Chromium is installed")
    path = tmp_path / "board.pdf"
    written_report(ReportFormat.PDF, results, page, path)
    [only] = PdfReader(path).pages
    assert "Run 0000" in only.extract_text()


def test_a_board_learns_that_a_model_is_simulated() -> None:
    run = RESULTS.run.model_copy(update={"targets": ("simulator:biased",)})
    pages = [
        report_text(ReportFormat.MD, replace(RESULTS, run=of), [], board=True)
        for of in (RESULTS.run, run)
    ]
    sentence = (
        "Simulated models answer with gaps planted for tests: the result is not about a real model."
    )
    assert [sentence in page for page in pages] == [False, True]


def test_an_inconclusive_run_is_no_all_clear_for_a_board() -> None:
    [diagnosis] = RESULTS.diagnoses
    undecided = replace(
        RESULTS, diagnoses=[diagnosis.model_copy(update={"gaps": diagnosis.gaps[1:]})]
    )
    text = report_text(ReportFormat.MD, undecided, [], board=True)
    assert "a gap of up to 0.8 in words could remain undetected" in text
    assert "This is not an all-clear." in text


def test_what_cannot_print_says_so_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="needs a file: -o report"):
        check_can_write(ReportFormat.PDF, None, "report")
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    monkeypatch.setattr(printed, "which", lambda _: None)
    with pytest.raises(UsageError, match="needs WeasyPrint with Pango"):
        check_can_write(ReportFormat.PDF, Path("r.pdf"), "report")


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("black", "Black or African American (black)"),
        ("Female", "Female"),
        ("F", "Female (F)"),
        ("Martian", "Martian"),
    ],
)
def test_categories_have_the_names_of_the_rule(label: str, name: str) -> None:
    assert rule_name(label) == name
