"""Interpretations on the page of a run: what is wrong is marked, and a model's words stay text."""

from datetime import UTC, datetime

from jinja2 import Environment, PackageLoader
from lxml import html

from biaswatch.services.gateway.runs.provenance import report_pieces, shown_interpretation
from biaswatch.shared.contracts import Evaluation, Fault, UncheckedSentence

REPORT = "# A\n\nIt is <script>alert('x')</script> 3. All is well. It may be 2."
WRONG, LAST = "It is <script>alert('x')</script> 3.", "It may be 2."
FAULT = Fault(
    kind="number", where="A", sentence="The number 3 is in none.", start=5, end=5 + len(WRONG)
)
OPEN = UncheckedSentence(
    where="A", number=3, start=REPORT.index(LAST), end=len(REPORT), values=("2",)
)


def test_the_pieces_make_up_the_whole_report_and_say_what_is_wrong_with_each() -> None:
    pieces = list(report_pieces(REPORT, [FAULT], [OPEN]))
    assert "".join(piece.text for piece in pieces) == REPORT
    assert [piece.text for piece in pieces if piece.faults] == [WRONG]
    assert [(piece.text, piece.values) for piece in pieces if piece.unchecked] == [(LAST, ("2",))]


def test_places_that_overlap_or_lie_beyond_the_report_lose_no_text() -> None:
    beyond = FAULT.model_copy(update={"start": 20, "end": 500})
    assert (
        "".join(report_piece.text for report_piece in report_pieces(REPORT, [FAULT, beyond], []))
        == REPORT
    )


def test_a_page_marks_sentences_lists_what_is_not_checked_and_runs_nothing() -> None:
    result = Evaluation(
        brief_id="b" * 32, at=datetime(2026, 1, 1, tzinfo=UTC), report=REPORT, faults=(FAULT,),
        statements=2, unchecked=(OPEN,),
    )  # fmt: skip
    created = Environment(
        loader=PackageLoader("biaswatch.services.gateway.dashboard", "templates"), autoescape=True
    )
    page_text = created.get_template("interpretations.html").module
    shown = shown_interpretation(result, None)
    page = html.fromstring(str(page_text.interpretation(shown)))  # type: ignore[attr-defined]
    assert page.find(".//script") is None
    assert page.find(".//mark[@class='wrong']").text_content() == WRONG
    assert page.find(".//mark[@class='unchecked']").text_content() == LAST
    text = " ".join(page.text_content().split())
    assert "1 fault, 1 of 2 statements checked by code" in text
    assert "sentence 3 under \u201cA\u201d: what 2 stands for" in text
