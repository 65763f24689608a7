"""What a terminal is shown: nothing anybody wrote steers it, and conclusions come last."""

import pytest
from rich.console import Console

from biaswatch.local.run_results import InterpretedGap, RunResults
from biaswatch.render.tables import escape, printable
from biaswatch.render.terminal import print_diagnoses, print_results
from shared.contracts import Estimate, Gap, Verdict
from tests.support.records import RUN_ID, make_diagnosis, make_evaluation, make_progress

HOSTILE = "\x1b[31mred\x1b]0;title\x07 \x9b2J \u202eexe.gpj [bold]loud[/]"


def test_nothing_written_by_others_reaches_a_terminal_as_a_command() -> None:
    console = Console(force_terminal=True, width=200, color_system=None)
    with console.capture() as said:
        console.print(escape(HOSTILE), highlight=False)
    assert said.get() == (
        "⟨U+001B⟩[31mred⟨U+001B⟩]0;title⟨U+0007⟩ ⟨U+009B⟩2J ⟨U+202E⟩exe.gpj [bold]loud[/]\n"
    )


def test_letters_of_any_script_and_line_ends_stay() -> None:
    text = "नमस्ते\nक्‍ष\tÅ"
    assert printable(text) == text
    assert printable("نمی‌خواهم و تو") == "\u2068نمی‌خواهم و تو\u2069"


def test_a_narrow_terminal_does_not_squeeze_columns_to_a_letter() -> None:
    gap = Gap(
        a="female", b="male", gap=Estimate(value=-0.0258, low=-0.122, high=0.0699),
        impact_ratio=Estimate(value=0.971, low=0.547, high=1.72), verdict=Verdict.NOT_ENOUGH,
    )  # fmt: skip
    found = make_diagnosis(gaps=(gap,))
    console = Console(width=60)
    with console.capture() as said:
        print_diagnoses(console, [found])
    assert "family p" in said.get()


def test_the_conclusions_come_last_and_a_written_report_does_not_push_them_away(
    capsys: pytest.CaptureFixture[str],
) -> None:
    gap = Gap(a="France", b="Peru", gap=Estimate(value=1), verdict=Verdict.NOT_ENOUGH)
    about = InterpretedGap("France against Peru", make_evaluation(report="Long words."))
    found = make_diagnosis(gaps=(gap,))
    print_results(RunResults(make_progress(), [found], interpretations=[about]), as_json=False)
    said = capsys.readouterr().out
    assert "Long words." not in said
    assert f"biaswatch report {RUN_ID} --interpret" in said
    assert said.index("Interpreted and graded: France against Peru") < said.index("• ")
    assert "Family of" in said.rpartition("• ")[2]
