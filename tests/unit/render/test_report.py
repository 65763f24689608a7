"""Reports: one snapshot for each format, and text that never becomes markup or a formula."""

import csv
import io
import json
from itertools import combinations
from pathlib import Path

import pytest
from lxml import html
from rich.console import Console

from biaswatch.cli.report import format_of
from biaswatch.local.runs import InterpretedGap, RunResults
from biaswatch.render.markdown import anchor, escape_md, table_lines
from biaswatch.render.report import ReportFormat, picture_lines, report_text
from biaswatch.render.report_markdown import as_csv, as_markdown
from biaswatch.render.report_pages import report_page
from biaswatch.render.run_results import print_results
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
from biaswatch.shared.errors import UsageError
from biaswatch.shared.presentation.columns import FindingColumn, Shown
from biaswatch.shared.presentation.conclusions import conclusions
from biaswatch.shared.presentation.finding_tables import (
    comparisons_table,
    findings_csv,
    findings_table,
    groups_table,
)
from biaswatch.shared.presentation.findings import ComparisonView, comparisons, feature_by_extractor
from biaswatch.shared.presentation.tables import Column, Table, TableCell, csv_of, estimate_cell
from tests.support.records import (
    make_assessment,
    make_correction,
    make_diagnosis,
    make_evaluation,
    make_progress,
    make_provenance,
)
from tests.support.snapshots import Snapshot

RUN = make_progress(suite="countries", targets=["replay:answers"])
HOSTILE = '=cmd|"<script>alert(1)</script>"![x](http://x) # head'


def diagnosis(name: str = "Peru") -> Diagnosis:
    """Make a disparity between two groups with a missing answer."""
    return make_diagnosis(
        groups=(
            GroupSummary(group="France", responses=3, missing=0, units=3, mean=Estimate(value=7.0)),
            GroupSummary(
                group=name,
                responses=2,
                missing=1,
                missing_reasons={"refused": 1},
                units=1,
                mean=Estimate(value=6.0, reason="one unit has no spread"),
                selection_rate=Estimate(value=0.5, low=0.1, high=0.9),
            ),
        ),
        gaps=(
            Gap(
                a="France",
                b=name,
                gap=Estimate(value=1.0, low=0.5, high=1.5),
                p_value=0.01,
                p_adjusted=0.02,
                verdict=Verdict.DISPARITY,
                survives_missing=False,
                reason="the interval lies beyond",
            ),
        ),
        disparities=(GroupDisparity(metric="Max-Min", value=1, null_median=0.7),),
        missing=MissingTest(p_value=0.3, method="Fisher, exact"),
    )


def many_groups() -> Diagnosis:
    """Make the diagnosis of nine groups with one disparity."""
    groups = tuple(
        GroupSummary(
            group=f"g{n}",
            responses=9,
            missing=0,
            units=9,
            mean=Estimate(value=float(n)),
            shrunken_mean=Estimate(value=n / 2, method="empirical Bayes"),
            rank=Estimate(value=9.0 - n, low=2.0, high=7.0),
        )
        for n in range(9)
    )
    gaps = tuple(
        Gap(
            a=f"g{a}",
            b=f"g{b}",
            gap=Estimate(value=float(b - a), low=0.1, high=2.0),
            p_adjusted=0.01 if (a, b) == (7, 8) else 1 - (b - a) / 10,
            verdict=Verdict.DISPARITY if (a, b) == (7, 8) else Verdict.INCONCLUSIVE,
        )
        for a, b in combinations(range(9), 2)
    )
    ratio = GroupDisparity(
        statistic="selection_rate", metric="Impact Ratio", value=0.71, null_median=0.69
    )
    overall = OverallTest(groups=9, units=81, p_value=0.012, permutations=1000)
    return make_diagnosis(
        feature="hedges_per_100", groups=groups, gaps=gaps, disparities=(ratio,), overall=overall
    )


def results() -> RunResults:
    """Make a run with findings of every kind."""
    return RunResults(
        RUN,
        [diagnosis(), many_groups()],
        [make_assessment()],
        interpretations=[InterpretedGap("France against Peru", make_evaluation())],
        provenance=make_provenance(),
        corrections=[make_correction()],
    )


def html_of(run: RunResults) -> html.HtmlElement:
    return html.fromstring(report_text(ReportFormat.HTML, run, ()))


def test_a_report_is_its_snapshot(snapshot: Snapshot) -> None:
    snapshot.check("report.md", as_markdown(results()))


def test_files_of_findings_are_their_snapshot(snapshot: Snapshot) -> None:
    """The command line's file, then the dashboard's files of comparisons and groups."""
    diagnoses = [diagnosis(), many_groups()]
    pages = (comparisons_table(diagnoses, "r"), groups_table(diagnoses, "r"))
    files = [as_csv(RunResults(RUN, diagnoses)), *map(csv_of, pages)]
    snapshot.check("findings.csv", "\n".join(files))


@pytest.mark.parametrize("everything", [False, True])
def test_a_terminal_of_80_columns_shows_its_snapshot(
    snapshot: Snapshot,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    everything: bool,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    print_results(results(), as_json=False, everything=everything)
    name = "terminal_all.txt" if everything else "terminal.txt"
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    snapshot.check(name, "".join(f"{line.rstrip()}\n" for line in lines))


def test_the_first_page_has_no_table_and_the_contents_lead_to_every_section() -> None:
    text = as_markdown(results())
    first, _, rest = text.partition("## Contents")
    assert "|" not in first
    titles = [line[3:] for line in rest.splitlines() if line.startswith("## ")]
    assert all(f"- [{title}](#{anchor(title)})" in text for title in titles)
    page = html_of(results())
    ids = {element.get("id") for element in page.iter()}
    links = [str(link.get("href")) for link in page.iterfind(".//a")]
    assert links
    assert {link.partition("#")[2] for link in links if link.startswith("#")} <= ids


@pytest.mark.slow
def test_two_hundred_comparisons_are_few_tables() -> None:
    many = [many_groups().model_copy(update={"feature": f"f{n}"}) for n in range(20)]
    text = as_markdown(RunResults(RUN, many))
    first, _, rest = text.partition("## Contents")
    assert first.count("\n- ") < 40
    nulls = rest.partition("## Inconclusive comparisons")[2].partition("## Method")[0]
    assert nulls.count("\n| f") == 20
    assert text.count("\n|---") < 10
    page = html_of(RunResults(RUN, many))
    folded = page.findall(".//details//table")
    assert len(page.findall(".//table")) == 1 + len(folded)


def test_of_many_groups_the_strongest_gap_comes_first_and_the_rest_is_counted() -> None:
    sentences = conclusions([many_groups()])
    assert len(sentences) == 8
    assert "g7 higher than g8" in sentences[0]
    assert "the other 30 comparisons" in sentences[-2]
    assert "all 9 groups together" in sentences[-1]


def test_texts_of_models_stay_text() -> None:
    run = RunResults(make_progress(suite="</title><script>alert(1)</script>"), [diagnosis(HOSTILE)])
    text = as_markdown(run)
    assert "<script>" not in text
    assert "![x]" not in text
    [row] = csv.DictReader(io.StringIO(as_csv(run)))
    assert row["b"] == f"'{HOSTILE}"
    page = html_of(run)
    assert page.findtext(".//title") == run.run.suite
    assert HOSTILE in {"".join(cell.itertext()).strip() for cell in page.iterfind(".//td")}
    assert not page.findall(".//script")


@pytest.mark.parametrize("text", ["plain", "a|b", "`x`", "line\nbreak", "\x1b[31mred"])
def test_escaped_text_keeps_its_words(text: str) -> None:
    escaped = escape_md(text)
    assert "\n" not in escaped
    assert "\x1b" not in escaped
    assert escaped.replace("\\", "").split() == text.replace("\x1b", "⟨U+001B⟩").split()


def test_json_and_csv_hold_the_same_comparison() -> None:
    run = RunResults(RUN, [diagnosis()])
    [row] = csv.DictReader(io.StringIO(as_csv(run)))
    [loaded] = json.loads(report_text(ReportFormat.JSON, run, []))["diagnoses"]
    assert float(row["gap"]) == loaded["gaps"][0]["gap"]["value"]
    assert row["verdict"] == loaded["gaps"][0]["verdict"]


def test_a_new_statistic_of_a_gap_is_one_column_of_all_tables() -> None:
    rows = comparisons([diagnosis()])
    column = FindingColumn[ComparisonView](
        "n", Shown.TABLES | Shown.CSV, "new", lambda row: TableCell(f"{row.gap.a}!", 7)
    )
    table = findings_table((column,), rows, Shown.DOCUMENT, "95 %")
    console = Console(width=60)
    with console.capture() as captured:
        console.print(rich_table(table))
    assert captured.get().split() == ["new", "France!"]
    assert list(table_lines(table)) == ["| new |", "|---|", "| France\\! |"]
    assert findings_csv((column,), rows) == "n\n7\n"


def test_long_reasons_for_no_interval_are_notes_below_the_table() -> None:
    reason = "no prompt of a group was answered twice"
    gap = estimate_cell(Estimate(value=0.5, reason=reason))
    table = Table("", (Column("gap [95 %]", numeric=True),), ((gap,), (gap,)))
    console = Console(width=80)
    with console.capture() as captured:
        console.print(rich_table(table))
    assert captured.get().count("0.5 (1)") == 2
    assert " ".join(captured.get().split()).endswith(f"(1) {reason}")


def test_an_html_report_loads_and_runs_nothing() -> None:
    page = html_of(RunResults(RUN, [diagnosis()]))
    assert all((link.get("href") or "").startswith("#") for link in page.iterfind(".//a"))
    sources = [image.get("src") or "" for image in page.iterfind(".//img")]
    assert sources
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)
    [policy] = [m.get("content") for m in page.iterfind(".//meta") if m.get("http-equiv")]
    assert str(policy).startswith("default-src 'none'")


def test_an_html_report_has_no_figures_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biaswatch.render.report.can_draw", lambda: False)
    page = html_of(RunResults(RUN, [diagnosis()]))
    assert page.findall(".//table")
    assert not page.findall(".//img")


def test_cells_keep_short_words_whole_and_break_names_between_their_parts() -> None:
    page = report_page("t", "| a | b | c |\n|---|---|---|\n| 0.00049 | openai:gpt/4 | " + "x" * 20)
    assert '<td class="whole" data-column="a"><span>0.00049</span></td>' in page
    assert 'class="whole" data-column="b"><span>openai:<wbr>gpt/<wbr>4</span></td>' in page
    assert f'<td data-column="c"><span>{"x" * 20}</span></td>' in page
    assert '<table class="cards">' not in page


def test_wide_tables_become_cards_on_a_narrow_screen() -> None:
    page = report_page("t", '| a | b"<i> | c | d |\n|---|---|---|---|\n| 1 | 2 | 3 | 4 |')
    assert '<table class="cards">' in page
    assert 'data-column="b&quot;&lt;i&gt;"><span>2</span>' in page


def test_a_figure_beside_a_report_has_a_relative_address(tmp_path: Path) -> None:
    lines = picture_lines([tmp_path / "my figures" / "gaps.svg"], tmp_path / "report.md")
    assert lines[0].endswith("](my%20figures/gaps.svg)")


def test_a_feature_has_its_extractor_unless_the_names_are_alike() -> None:
    assert feature_by_extractor("sentiment", "vader") == "sentiment by the reading of vader"
    assert feature_by_extractor("rating", "rating") == "rating"


@pytest.mark.parametrize(
    ("name", "form"), [("r.html", "html"), ("r.JSON", "json"), ("r.csv", "csv"), ("r", "md")]
)
def test_the_ending_of_a_file_is_the_format(name: str, form: str) -> None:
    assert format_of(Path(name)).value == form
    assert format_of(None).value == "md"
    with pytest.raises(UsageError, match=r"r\.pptx must end in one of \.md, \.html"):
        format_of(Path("r.pptx"))
