"""Terminal output: no control characters, nothing cut."""

import pytest
from rich.console import Console

from biaswatch.local.runs import InterpretedGap, RunResults
from biaswatch.render.run_results import print_diagnoses, print_results
from biaswatch.render.terminal import escape, print_sentence, print_table, printable, terminal_table
from biaswatch.shared.contracts import Diagnosis, Estimate, Gap, GroupSummary, Verdict
from tests.support.records import RUN_ID, make_diagnosis, make_evaluation, make_progress

HOSTILE = "\x1b[31mred\x1b]0;title\x07 \x9b2J \u202eexe.gpj [bold]loud[/]"


def test_foreign_texts_cannot_command_the_terminal() -> None:
    console = Console(force_terminal=True, width=200, color_system=None)
    with console.capture() as output:
        console.print(escape(HOSTILE), highlight=False)
    assert output.get() == (
        "⟨U+001B⟩[31mred⟨U+001B⟩]0;title⟨U+0007⟩ ⟨U+009B⟩2J ⟨U+202E⟩exe.gpj [bold]loud[/]\n"
    )


def test_letters_of_any_script_and_line_ends_stay() -> None:
    text = "नमस्ते\nक्‍ष\tÅ"
    assert printable(text) == text
    assert printable("نمی‌خواهم و تو") == "\u2068نمی‌خواهم و تو\u2069"


def test_a_narrow_terminal_does_not_squeeze_columns_to_a_letter() -> None:
    gap = Gap(
        a="female", b="male", gap=Estimate(value=-0.0258, low=-0.122, high=0.0699),
        impact_ratio=Estimate(value=0.971, low=0.547, high=1.72), verdict=Verdict.INCONCLUSIVE,
    )  # fmt: skip
    diagnosis = make_diagnosis(gaps=(gap,))
    console = Console(width=60)
    with console.capture() as output:
        print_diagnoses(console, [diagnosis])
    assert {"-0.0258", "[-0.122,", "0.0699]"} <= set(output.get().split())


def test_a_narrow_terminal_drops_no_column() -> None:
    titles = [f"title{number}" for number in range(12)]
    table = terminal_table(titles, [["a sentence"] * 12, ["-0.585 [-0.657, -0.515]"] * 12])
    console = Console(width=60)
    with console.capture() as output:
        print_table(console, table)
    assert set(titles) <= set(output.get().split())


def test_the_conclusions_come_first_and_a_written_report_does_not_push_them_away(
    capsys: pytest.CaptureFixture[str],
) -> None:
    gap = Gap(a="France", b="Peru", gap=Estimate(value=1), verdict=Verdict.INCONCLUSIVE)
    about = InterpretedGap("France against Peru", make_evaluation(report="Long words."))
    diagnosis = make_diagnosis(gaps=(gap,))
    print_results(RunResults(make_progress(), [diagnosis], interpretations=[about]), as_json=False)
    output = capsys.readouterr().out
    assert "Long words." not in output
    assert f"biaswatch report {RUN_ID[:12]} --interpret" in output
    assert output.startswith("Inconclusive: the only comparison is undecided;")
    assert output.index("• ") < output.index("1 comparison, level") < output.index("Run 0000")
    assert output.index("Run 0000") < output.index("Interpreted and graded: France against Peru")


def test_a_report_that_never_arrived_is_not_called_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    evaluation = make_evaluation(report=None, reason="No report arrived before the deadline.")
    row = InterpretedGap("France against Peru", evaluation)
    print_results(RunResults(make_progress(), [], interpretations=[row]), as_json=False)
    assert "There is no report: No report arrived before the deadline." in capsys.readouterr().out


def many_comparisons() -> Diagnosis:
    """Make 210 comparisons of groups with long names, one of them a disparity."""
    return make_diagnosis(
        target="openai:a-model-with-a-long-name-2026-01-01",
        feature="hedges_per_100_words",
        gaps=tuple(
            Gap(
                a=f"Bosnia_and_Herzegovina_{n}", b="the rest",
                gap=Estimate(value=-0.123 - n, low=-0.456 - n, high=0.789),
                p_adjusted=0.001 if n == 77 else 1.0,
                verdict=Verdict.DISPARITY if n == 77 else Verdict.INCONCLUSIVE,
            )
            for n in range(210)
        ),
        groups=tuple(
            GroupSummary(
                group=f"Bosnia_and_Herzegovina_{n}", responses=123456, missing=123,
                missing_reasons={"refused": 123}, units=123456,
                mean=Estimate(value=-1234.5, low=-2345.6, high=-0.000123),
                shrunken_mean=Estimate(value=-1.23), rank=Estimate(value=n, low=1, high=210),
            )
            for n in range(210)
        ),
    )  # fmt: skip


def test_ten_of_210_comparisons_are_shown_unless_all_are_requested(
    capsys: pytest.CaptureFixture[str],
) -> None:
    results = RunResults(make_progress(), [many_comparisons()])
    print_results(results, as_json=False)
    few = capsys.readouterr().out
    assert few.splitlines()[0] == "Disparity in 1 of 210 comparisons."
    assert "Herzegovina_77 lower" in few.splitlines()[1] + few.splitlines()[2]
    assert few.count("• ") == 10
    assert "The other 200 comparisons: inconclusive." in few
    assert f"biaswatch show {RUN_ID[:12]} --all" in few
    print_results(results, as_json=False, everything=True)
    full = capsys.readouterr().out
    assert full.count("• ") == 210
    assert "The other" not in full


def test_80_columns_cut_or_fold_no_number_and_no_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    print_results(RunResults(make_progress(), [many_comparisons()]), as_json=False, everything=True)
    output = capsys.readouterr().out
    assert "…" not in output
    words = set(output.split())
    for whole in (
        "Bosnia_and_Herzegovina_209", "hedges_per_100_words", "-1,234", "[-2,346,", "-0.000123]",
        "123456", "-209", "[-209,", "0.789]",
    ):  # fmt: skip
        assert whole in words, whole


def test_a_sentence_wraps_between_words_and_keeps_numbers_with_their_intervals() -> None:
    console = Console(width=40)
    sentence = (
        "female higher than male, rating: a disparity of 0.5 [0.25, 0.75], adjusted p = 0.012."
    )
    with console.capture() as output:
        print_sentence(console, sentence, bullet="• ")
    lines = output.get().splitlines()
    assert all(len(line) <= 40 for line in lines)
    assert any("0.5 [0.25, 0.75]," in line for line in lines)
    assert any("p = 0.012." in line for line in lines)
    assert [line[:2] for line in lines] == ["• "] + ["  "] * (len(lines) - 1)
    assert " ".join(" ".join(lines).split()) == f"• {sentence}"
