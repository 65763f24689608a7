"""The overview: findings and bias scores of runs in a few words."""

import pytest

from biaswatch.shared.contracts import Estimate
from biaswatch.shared.presentation.bias_scores import (
    score_conclusions,
    score_headline,
    score_lead,
    scores_table,
)
from biaswatch.shared.presentation.overview import RunScores, overview_tiles, runs_table
from biaswatch.shared.requests.platform import DaySpending
from biaswatch.shared.requests.run_views import RunProgress, RunVerdicts, Scores
from tests.support.records import make_progress

COUNTS = dict.fromkeys(
    ("rows", "missing", "unmatched", "without_target", "correct", "named", "biased", "clusters"), 4
)
RUN = make_progress()
UNKNOWN = RunScores((), "of more questions than a page computes")


def scores(low: float | None, high: float | None, **fields: object) -> Scores:
    known = low is not None and high is not None
    middle = (low + high) / 2 if low is not None and high is not None else 3.0
    estimate = Estimate(
        value=middle, low=low, high=high, reason=None if known else "fewer than 5 templates"
    )
    row = {"target": "m", "scaffold": "direct", "category": "Age", "condition": "ambig"}
    parts = dict.fromkeys(("accuracy", "s_dis", "bias"), estimate)
    return Scores.model_validate({**row, **parts, **COUNTS, **fields})


NEAR, FAR, NONE = scores(-3, 4), scores(10, 20), scores(None, None)


@pytest.mark.parametrize(
    ("rows", "lead"),
    [
        ([NEAR], "The bias score does not lie apart from 0, by its own interval."),
        ([NEAR, FAR], "1 of 2 bias scores lies apart from 0, each by its own interval."),
        ([NONE, NONE], "No bias score has an interval: fewer than 5 templates."),
        ([NONE], "The bias score has no interval: fewer than 5 templates."),
        (
            [NONE, FAR],
            "1 of 2 bias scores lies apart from 0, each by its own interval; 1 has none.",
        ),
    ],
)
def test_the_lead_counts_scores_apart_from_0(rows: list[Scores], lead: str) -> None:
    assert score_lead(rows) == lead


def test_scores_farthest_from_0_come_first() -> None:
    assert [row[3].plain for row in scores_table([NEAR, FAR]).rows] == [15, 0.5]
    assert score_conclusions(None) == []


@pytest.mark.parametrize(
    ("other", "headline"),
    [
        (
            NEAR.model_copy(update={"condition": "disambig"}),
            (
                "15.0 [10.0, 20.0] where the context leaves it open; 0.5 [-3.0, 4.0] where the"
                " context tells"
            ),
        ),
        (
            scores(-30, -20, target="n", category="Religion"),
            "farthest: -25.0 [-30.0, -20.0] where the context leaves it open (Religion, n)",
        ),
    ],
)
def test_the_headline_has_one_score_for_each_context(other: Scores, headline: str) -> None:
    assert score_headline([FAR, other]) == headline


def verdicts(disparities: int, undecided: int | None = None) -> RunProgress:
    open_ = disparities if undecided is None else undecided
    counts = RunVerdicts(
        comparisons=8, disparities=disparities, undecided=open_, undetected={"rating": 0.4}
    )
    return RUN.model_copy(update={"found": counts})


@pytest.mark.parametrize(
    ("run", "scored", "text", "note"),
    [
        (verdicts(0), None, "no disparity", "8 of 8"),
        (verdicts(1), None, "disparity", "1 of 8"),
        (verdicts(3), None, "disparity", "3 of 8"),
        (
            verdicts(0, undecided=2),
            None,
            "inconclusive",
            "2 of 8; a gap of up to 0.4 in rating could remain undetected",
        ),
        (
            verdicts(0),
            RunScores([FAR]),
            "no disparity",
            (
                "8 of 8; 1 of 1 bias score apart from 0; 15.0 [10.0, 20.0] where the context leaves"
                " it open"
            ),
        ),
        (make_progress(state="running"), None, "nothing yet", None),
        (RUN, None, "no groups compared", None),
        (make_progress(archived="moved"), None, "no groups compared", "its answers are archived"),
        (RUN, UNKNOWN, "bias scores", UNKNOWN.reason),
    ],
)
def test_a_run_has_its_findings_in_a_few_words(
    run: RunProgress, scored: RunScores | None, text: str, note: str | None
) -> None:
    [row] = runs_table([run], {}, {run.run_id: scored} if scored else {}).rows
    assert (row[2].text, row[2].note) == (text, note)


@pytest.mark.parametrize(
    ("runs", "value", "kind"),
    [
        ([verdicts(3)], "1", "disparity"),
        ([verdicts(0, undecided=2), verdicts(0)], "1", "inconclusive"),
        ([verdicts(0)], "0", ""),
        ([RUN], "-", ""),
    ],
)
def test_no_tile_reads_as_an_all_clear_beside_a_disparity(
    runs: list[RunProgress], value: str, kind: str
) -> None:
    day = DaySpending(runs=1, tokens=0, cost=None, unpriced_calls=0)
    tile = overview_tiles(0, [], runs, day)[1]
    assert (tile.value, tile.label, tile.kind) == (value, "without an all-clear", kind)
