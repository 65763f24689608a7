"""Reports: what is in them, and that nothing anybody wrote becomes markup or a formula."""

import csv
import json
from itertools import combinations
from pathlib import Path

import pytest
from lxml import html
from rich.console import Console

from biaswatch.cli.report import format_of
from biaswatch.local.runs import RunResults
from biaswatch.render.markdown import anchor, escape_md, table_lines
from biaswatch.render.report import ReportFormat, picture_lines, report_page, report_text
from biaswatch.render.report_markdown import as_csv, as_markdown
from biaswatch.render.terminal import rich_table
from biaswatch.shared.contracts import (
    Diagnosis,
    Estimate,
    Gap,
    GroupDisparity,
    GroupSummary,
    MissingTest,
    OverallTest,
    Verdict,
)
from biaswatch.shared.presentation.columns import FindingColumn, Shown, findings_csv, findings_table
from biaswatch.shared.presentation.conclusions import conclusions, dimension_notes
from biaswatch.shared.presentation.findings import Comparison, comparisons, reading
from biaswatch.shared.presentation.tables import Cell
from tests.support.records import make_diagnosis, make_progress, make_provenance

RUN = make_progress(suite="countries", targets=["replay:answers"])
HOSTILE = '=cmd|"<script>alert(1)</script>"![x](http://x)\n# head'


def diagnosis(name: str = "Peru") -> Diagnosis:
    return make_diagnosis(
        groups=(
            GroupSummary(group="France", responses=3, missing=0, units=3, mean=Estimate(value=7)),
            GroupSummary(
                group=name, responses=2, missing=1, missing_reasons={"refused": 1}, units=1,
                mean=Estimate(value=6, reason="one unit has no spread"),
                selection_rate=Estimate(value=0.5, low=0.1, high=0.9),
            ),
        ),
        gaps=(
            Gap(
                a="France", b=name, gap=Estimate(value=1, low=0.5, high=1.5), p_value=0.01,
                p_adjusted=0.02, verdict=Verdict.DISPARITY, reason="the interval lies beyond",
            ),
        ),
        disparities=(GroupDisparity(metric="Max-Min", value=1, null_median=0.7, p_value=0.04),),
        missing=MissingTest(p_value=0.3, method="Fisher, exact"),
    )  # fmt: skip


def test_a_report_holds_gaps_missing_answers_and_what_it_is_about() -> None:
    text = as_markdown(RunResults(RUN, [diagnosis()]))
    for said in (
        "complete: 5 of 5 answers by replay:answers",
        "1 \\[0.5, 1.5\\]",
        "**disparity**",
        "1 (1 refused)",
        "one unit has no spread",
        "Fisher, exact",
        "these prompts",
    ):
        assert said in text


def test_the_first_page_says_what_was_found_how_sure_and_what_not_before_any_table() -> None:
    text = as_markdown(RunResults(RUN, [diagnosis()]))
    first, _, rest = text.partition("## Contents")
    titles = [line for line in first.splitlines() if line.startswith("## ")]
    assert titles == [
        "## What was found",
        "## How sure this is",
        "## What was not found",
        "## What was not measured",
    ]
    assert "|" not in first
    assert "**1 of 1 comparison shows a disparity.**" in first
    said = "**France** is **1 higher** than Peru in words at replay:answers"
    assert said in first
    assert "1 of 5 answers gave no number (1 refused)" in first
    assert "## Method" in rest


def test_a_report_says_where_its_numbers_come_from() -> None:
    text = as_markdown(RunResults(RUN, [diagnosis()], provenance=make_provenance()))
    for said in (
        "| suite hash | 00000000000000000000000000000000 |",
        "called itself gpt-5-mini-2026-01-01 (fp\\_1); temperature 0",
        "| instrument | words 1, by word counts |",
        "| seed | 7 |",
        "| code | biaswatch 0.1.0 |",
    ):
        assert said in text


def test_contents_lead_to_every_section_in_markdown_and_on_the_page() -> None:
    results = RunResults(RUN, [diagnosis()], provenance=make_provenance())
    text = as_markdown(results)
    titles = [line[3:] for line in text.partition("## Contents")[2].splitlines()
              if line.startswith("## ")]  # fmt: skip
    page = html.fromstring(report_text(ReportFormat.HTML, results, ()))
    there = {each.get("id") for each in page.iter() if each.get("id")}
    links = [str(each.get("href")) for each in page.iterfind(".//a")]
    assert [f"- [{title}](#{anchor(title)})" in text for title in titles] == [True] * len(titles)
    assert {link[1:] for link in links} <= there
    assert all(link.startswith("#") for link in links)


def test_two_hundred_comparisons_are_one_table_of_nulls_and_few_tables_in_all() -> None:
    many = [many_groups().model_copy(update={"feature": f"f{n}"}) for n in range(20)]
    text = as_markdown(RunResults(RUN, many))
    first, _, rest = text.partition("## Contents")
    assert first.count("\n- ") < 40
    nulls = rest.partition("## Comparisons that show no disparity")[2].partition("## Method")[0]
    assert nulls.count("\n| f") == 20
    assert text.count("\n|---") < 10
    page = html.fromstring(report_text(ReportFormat.HTML, RunResults(RUN, many), ()))
    folded = page.findall(".//details//table")
    assert len(page.findall(".//table")) == 1 + len(folded)


def test_a_picture_beside_a_report_is_shown_from_where_the_report_lies(tmp_path: Path) -> None:
    pictures = [tmp_path / "my figures" / "gaps.svg"]
    lines = picture_lines(pictures, tmp_path / "report.md")
    assert lines[0].endswith("](my%20figures/gaps.svg)")


def test_what_people_and_models_wrote_stays_text() -> None:
    text = as_markdown(RunResults(RUN, [diagnosis(HOSTILE.replace("\n", " "))]))
    assert "<script>" not in text
    assert "![x]" not in text
    rows = list(
        csv.DictReader(
            as_csv(RunResults(RUN, [diagnosis(HOSTILE.replace("\n", " "))])).splitlines()
        )
    )
    assert rows[0]["b"].startswith("'=cmd")


@pytest.mark.parametrize("text", ["plain", "a|b", "`x`", "line\nbreak", "\x1b[31mred"])
def test_text_keeps_its_words_and_loses_its_power(text: str) -> None:
    shown = escape_md(text)
    assert "\n" not in shown
    assert "\x1b" not in shown
    assert shown.replace("\\", "").split() == text.replace("\x1b", "⟨U+001B⟩").split()


def test_json_and_csv_hold_the_same_comparison() -> None:
    [row] = csv.DictReader(as_csv(RunResults(RUN, [diagnosis()])).splitlines())
    [loaded] = json.loads(report_text(ReportFormat.JSON, RunResults(RUN, [diagnosis()]), []))[
        "diagnoses"
    ]
    assert float(row["gap"]) == loaded["gaps"][0]["gap"]["value"]
    assert row["verdict"] == loaded["gaps"][0]["verdict"]


def test_tables_leave_empty_columns_out_and_the_csv_of_gaps_keeps_all() -> None:
    markdown = as_markdown(RunResults(RUN, [diagnosis()])).splitlines()
    assert [line for line in markdown if line.startswith("| group")] == [
        "| groups | gap [95 %] | p | adjusted p | verdict |",
        "| group | prompts | answers | missing | mean [95 %] | selected [95 %] |",
    ]
    assert "| France - Peru | 1 \\[0.5, 1.5\\] | 0.01 | 0.02 | **disparity** |" in markdown
    assert as_csv(RunResults(RUN, [diagnosis()])).splitlines() == [
        (
            "run,target,scaffold,feature,dimension,a,b,"
            "gap,low,high,p_value,p_adjusted,effect_size,verdict,survives_missing,reason,claim"
        ),
        (
            f"{RUN.run_id},replay:answers,direct,words,concept,France,Peru,"
            "1.0,0.5,1.5,0.01,0.02,,disparity,,the interval lies beyond,these prompts"
        ),
    ]


def many_groups() -> Diagnosis:
    """Make the diagnosis of nine groups, one of which differs from another."""
    groups = tuple(
        GroupSummary(
            group=f"g{n}", responses=9, missing=0, units=9, mean=Estimate(value=n),
            shrunken_mean=Estimate(value=n / 2, method="empirical Bayes"),
            rank=Estimate(value=9 - n, low=2, high=7),
        )
        for n in range(9)
    )  # fmt: skip
    gaps = tuple(
        Gap(
            a=f"g{a}", b=f"g{b}", gap=Estimate(value=b - a, low=0.1, high=2),
            p_adjusted=0.01 if (a, b) == (7, 8) else 1 - (b - a) / 10,
            verdict=Verdict.DISPARITY if (a, b) == (7, 8) else Verdict.NOT_ENOUGH,
        )
        for a, b in combinations(range(9), 2)
    )  # fmt: skip
    ratio = GroupDisparity(
        statistic="selection_rate", metric="Impact Ratio", value=0.71, null_median=0.69, p_value=0.6
    )
    overall = OverallTest(groups=9, units=81, p_value=0.012, permutations=1000)
    return make_diagnosis(groups=groups, gaps=gaps, disparities=(ratio,), overall=overall)


def test_of_many_groups_the_test_of_all_comes_first_and_the_plainest_gaps_next() -> None:
    said = conclusions([many_groups()])
    assert "all 9 groups together: p = 0.012" in said[0]
    assert "g7 against g8, words: a disparity" in said[1]
    assert "g0 against g8, words: not enough evidence" in said[2]
    assert said[-1].endswith(
        "the other 30 comparisons, which the tables list: not enough evidence: 30."
    )
    assert len(said) == 8


def test_of_many_groups_means_are_shown_raw_and_shrunken_with_ranks_and_chance() -> None:
    text = as_markdown(RunResults(RUN, [many_groups()])).splitlines()
    assert "| g8 | 9 | 9 | 0 | 8 \\[no interval\\] | 4 | 1 (2 to 7) |" in text
    assert any("for looking, for no verdict" in line for line in text)
    assert any(line.endswith("| Impact Ratio | 0.71 |  | 0.69 | 0.6 |") for line in text)
    rows = [line for line in text if line.startswith(("| g7 - ", "| g0 - "))]
    assert rows[0].startswith("| g7 - g8")
    [note] = [each for each in dimension_notes(many_groups()) if "random labels" in each]
    assert "is 0.71 of the largest; random labels alone give 0.69" in note


def test_a_new_statistic_of_a_gap_is_one_column_of_all_tables() -> None:
    rows = comparisons([diagnosis()])
    column = FindingColumn[Comparison](
        "n", Shown.TABLES | Shown.CSV, "new", lambda row: Cell(f"{row.gap.a}!", 7)
    )
    table = findings_table((column,), rows, Shown.DOCUMENT, "95 %")
    console = Console(width=60)
    with console.capture() as shown:
        console.print(rich_table(table))
    assert shown.get().split() == ["new", "France!"]
    assert list(table_lines(table)) == ["| new |", "|---|", "| France\\! |"]
    assert findings_csv((column,), rows) == "n\n7\n"


def test_nothing_to_compare_is_said() -> None:
    assert "There is nothing to compare" in as_markdown(RunResults(RUN, []))


def test_a_page_is_one_file_that_needs_nothing_from_elsewhere_and_runs_nothing() -> None:
    hostile = HOSTILE.replace("\n", " ")
    page = html.fromstring(
        report_text(ReportFormat.HTML, RunResults(RUN, [diagnosis(hostile)]), ())
    )
    assert page.findtext(".//title") == "countries"
    assert [each.text for each in page.iterfind(".//h1")] == ["countries"]
    assert page.findall(".//table")
    assert hostile in {"".join(cell.itertext()).strip() for cell in page.iterfind(".//td")}
    assert not page.findall(".//script")
    assert all((each.get("href") or "").startswith("#") for each in page.iterfind(".//a"))
    sources = [each.get("src") or "" for each in page.iterfind(".//img")]
    assert sources
    assert all(each.startswith("data:image/svg+xml;base64,") for each in sources)
    [policy] = [m.get("content") for m in page.iterfind(".//meta") if m.get("http-equiv")]
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_a_page_is_written_without_pictures_where_nothing_can_draw_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("biaswatch.render.report.can_draw", lambda: False)
    page = html.fromstring(report_text(ReportFormat.HTML, RunResults(RUN, [diagnosis()]), ()))
    assert page.findall(".//table")
    assert not page.findall(".//img")


def test_a_title_is_text_too() -> None:
    run = make_progress(suite="</title><script>alert(1)</script>")
    page = html.fromstring(report_text(ReportFormat.HTML, RunResults(run, [diagnosis()]), ()))
    assert page.findtext(".//title") == run.suite
    assert not page.findall(".//script")


def test_a_number_is_named_with_what_read_it_and_the_same_name_once() -> None:
    assert reading("sentiment", "vader") == "sentiment by the reading of vader"
    assert reading("rating", "rating") == "rating"


def test_cells_keep_short_words_whole_and_break_names_where_their_parts_meet() -> None:
    page = report_page("t", "| a | b | c |\n|---|---|---|\n| 0.00049 | openai:gpt/4 | " + "x" * 20)
    assert '<td class="whole" data-column="a"><span>0.00049</span></td>' in page
    assert 'class="whole" data-column="b"><span>openai:<wbr>gpt/<wbr>4</span></td>' in page
    assert f'<td data-column="c"><span>{"x" * 20}</span></td>' in page
    assert '<table class="cards">' not in page


def test_a_table_of_many_columns_is_read_row_below_row_on_a_narrow_screen() -> None:
    page = report_page("t", '| a | b"<i> | c | d |\n|---|---|---|---|\n| 1 | 2 | 3 | 4 |')
    assert '<table class="cards">' in page
    assert 'data-column="b&quot;&lt;i&gt;"><span>2</span>' in page


@pytest.mark.parametrize(
    ("name", "form"),
    [("r.html", "html"), ("r.JSON", "json"), ("r.csv", "csv"), ("r.txt", "md"), ("r", "md")],
)
def test_the_ending_of_a_file_says_what_a_report_is(name: str, form: str) -> None:
    assert format_of(Path(name)).value == form
    assert format_of(None).value == "md"
