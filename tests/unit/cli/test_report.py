"""Reports: what is in them, and that nothing anybody wrote becomes markup or a formula."""

import csv
import json

import pytest
from lxml import html
from rich.console import Console

from biaswatch.local.run_results import RunResults
from biaswatch.render.columns import Column, GapRow, Shown, gap_rows
from biaswatch.render.documents import as_csv, as_markdown
from biaswatch.render.report import ReportFormat, report_text
from biaswatch.render.tables import escape_md, findings_csv, findings_markdown, findings_table
from shared.contracts import (
    Diagnosis,
    Estimate,
    Gap,
    GroupDisparity,
    GroupSummary,
    MissingTest,
    Verdict,
)
from tests.support.records import make_diagnosis, make_progress

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
    assert (
        shown.replace("\\", "").split()
        == "".join(c if c.isprintable() else " " for c in text).split()
    )


def test_json_and_csv_hold_the_same_comparison() -> None:
    [row] = csv.DictReader(as_csv(RunResults(RUN, [diagnosis()])).splitlines())
    [loaded] = json.loads(report_text(ReportFormat.JSON, RunResults(RUN, [diagnosis()]), []))[
        "diagnoses"
    ]
    assert float(row["gap"]) == loaded["gaps"][0]["gap"]["value"]
    assert row["verdict"] == loaded["gaps"][0]["verdict"]


def test_the_tables_and_the_csv_of_gaps_keep_their_columns() -> None:
    markdown = as_markdown(RunResults(RUN, [diagnosis()])).splitlines()
    assert [line for line in markdown if line.startswith("| group")] == [
        "| groups | gap [95 %] | p | p (Holm) | effect size | impact ratio | verdict |",
        "| group | prompts | answers | missing | mean [95 %] | selected [95 %] |",
    ]
    assert "| France - Peru | 1 \\[0.5, 1.5\\] | 0.01 | 0.02 |  |  | **disparity** |" in markdown
    assert as_csv(RunResults(RUN, [diagnosis()])).splitlines() == [
        (
            "run,target,scaffold,feature,dimension,a,b,"
            "gap,low,high,p_value,p_adjusted,effect_size,verdict,reason,claim"
        ),
        (
            f"{RUN.run_id},replay:answers,direct,words,concept,France,Peru,"
            "1.0,0.5,1.5,0.01,0.02,,disparity,the interval lies beyond,these prompts"
        ),
    ]


def test_a_new_statistic_of_a_gap_is_one_column_of_all_tables() -> None:
    found = gap_rows(diagnosis(), "r")
    column = Column[GapRow]("n", Shown.ALL, "new", lambda row: f"{row.gap.a}!", lambda _: 7)
    console = Console(width=60)
    with console.capture() as shown:
        console.print(findings_table((column,), found, "95 %"))
    assert shown.get().split() == ["new", "France!"]
    assert list(findings_markdown((column,), found, "95 %")) == [
        "| new |", "|---|", "| France\\! |",
    ]  # fmt: skip
    assert findings_csv((column,), found) == "n\n7\n"


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
    assert hostile in {(cell.text or "").strip() for cell in page.iterfind(".//td")}
    assert not page.findall(".//script")
    assert not page.findall(".//a")
    sources = [each.get("src") or "" for each in page.iterfind(".//img")]
    assert sources
    assert all(each.startswith("data:image/svg+xml;base64,") for each in sources)
    [policy] = [m.get("content") for m in page.iterfind(".//meta") if m.get("http-equiv")]
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_a_title_is_text_too() -> None:
    run = make_progress(suite="</title><script>alert(1)</script>")
    page = html.fromstring(report_text(ReportFormat.HTML, RunResults(run, [diagnosis()]), ()))
    assert page.findtext(".//title") == run.suite
    assert not page.findall(".//script")
