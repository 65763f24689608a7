"""Interpretations on the page of a run: what is wrong is marked, and a model's words stay text."""

from datetime import UTC, datetime

from jinja2 import Environment, PackageLoader
from lxml import html

from biaswatch.services.gateway.runs.provenance import report_pieces, shown_interpretation
from biaswatch.shared.contracts import Evaluation, Fault, ProseCheck, UncheckedSentence

REPORT = "# A\n\nIt is <script>alert('x')</script> 3. All is well. It may be 2."
WRONG, LAST = "It is <script>alert('x')</script> 3.", "It may be 2."
FAULT = Fault(
    kind="number", where="A", sentence="The number 3 is in none.", start=5, end=5 + len(WRONG)
)
OPEN = UncheckedSentence(where="A", number=3, start=REPORT.index(LAST), end=len(REPORT))


def evaluation(*faults: Fault, **fields: object) -> Evaluation:
    given = {"brief_id": "b" * 32, "at": datetime(2026, 1, 1, tzinfo=UTC), "report": REPORT}
    return Evaluation.model_validate({**given, "faults": faults, **fields})


def test_the_pieces_make_up_the_whole_report_and_say_what_is_wrong_with_each() -> None:
    pieces = list(report_pieces(evaluation(FAULT, unchecked=(OPEN,))))
    assert "".join(piece.text for piece in pieces) == REPORT
    assert [piece.text for piece in pieces if piece.faults] == [WRONG]
    assert [piece.text for piece in pieces if piece.unchecked] == [LAST]


def test_places_that_overlap_or_lie_beyond_the_report_lose_no_text() -> None:
    beyond = FAULT.model_copy(update={"start": 20, "end": 500})
    pieces = report_pieces(evaluation(FAULT, beyond))
    assert "".join(piece.text for piece in pieces) == REPORT


def test_phrases_that_judges_object_to_are_underlined_within_their_sentences() -> None:
    result = evaluation(FAULT, phrases={"attribution/1/0": ("all  is well", "elsewhere", "3. All")})
    parts = [part for piece in report_pieces(result) for part in piece.parts]
    assert "".join(text for text, _ in parts) == REPORT
    assert [text for text, objectionable in parts if objectionable] == ["3.", " All", " is well"]


def test_a_page_marks_sentences_lists_what_is_not_checked_and_runs_nothing() -> None:
    check = ProseCheck(judge="j", right=3, controls=10, control_errors=1)
    result = evaluation(
        FAULT, statements=2, unchecked=(OPEN,), phrases={"k": ("is well",)}, prose=(check,)
    )
    created = Environment(
        loader=PackageLoader("biaswatch.services.gateway.dashboard", "templates"), autoescape=True
    )
    page_text = created.get_template("interpretations.html").module
    shown = shown_interpretation(result, None)
    page = html.fromstring(str(page_text.interpretation(shown)))  # type: ignore[attr-defined]
    assert page.find(".//script") is None
    assert page.find(".//mark[@class='wrong']").text_content() == WRONG
    assert page.find(".//mark[@class='unchecked']").text_content() == LAST
    assert page.find(".//u").text_content() == "is well"
    text = " ".join(page.text_content().split())
    assert "1 fault, 1 of 2 statements checked by code" in text
    assert "3 right, 0 wrong, 0 not checked (the judge errs on 1 of 10 known pairs)" in text
    assert "sentence 3 under \u201cA\u201d" in text
