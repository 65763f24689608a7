"""What the gateway makes of judges and verdicts: who judges, which verdict stands, who can read."""

from datetime import timedelta

import pytest

from biaswatch.bbq.rows import BbqRow
from biaswatch.bbq.suite import suite_of
from biaswatch.shared.analysis.studies.pairs import (
    counted_verdicts,
    failed_judges,
    judge_controls,
    pair_tables,
)
from biaswatch.shared.contracts import (
    Check,
    ExtractorStatus,
    Finding,
    Suite,
    outline_of,
    verdicts_expected,
)
from biaswatch.shared.contracts.pair_verdict import latest_verdicts
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.runs import RunRequest, run_of
from tests.support.bbq_rows import make_bbq_row
from tests.support.records import AT, make_verdict

SUITE = suite_of([BbqRow.model_validate(make_bbq_row(n)) for n in range(8)])
RUNNING = [
    ExtractorStatus("choice", "2", ("chosen", "correct"), AT),
    ExtractorStatus("words", "1", ("words",), AT),
]
PLAIN = Suite.model_validate(
    {"name": "plain", "extractors": ["words"], "probes": [{"key": "a", "prompt": "Hello?"}]}
)


OUTLINE, PLAIN_OUTLINE = outline_of(SUITE), outline_of(PLAIN)


def asked(suite: Suite = SUITE, *judges: str) -> RunRequest:
    return RunRequest(suite_hash=suite.hash, targets=["simulator:biased"], judges=list(judges))


def test_pairs_are_judged_by_the_model_itself_unless_others_or_nobody_is_named() -> None:
    by_itself = run_of(asked(), OUTLINE, RUNNING, AT)
    assert by_itself.judging is not None
    assert by_itself.judging.judges == ()
    assert verdicts_expected(by_itself, SUITE) == 4 + 1
    rest = run_of(asked(SUITE, "simulator:a", "simulator:b"), OUTLINE, RUNNING, AT)
    assert verdicts_expected(rest, SUITE) == 4 + 2
    nobody = run_of(asked(SUITE, "none"), OUTLINE, RUNNING, AT)
    assert (nobody.judging, verdicts_expected(nobody, SUITE)) == (None, 0)
    assert len({by_itself.id, rest.id, nobody.id}) == 3


def test_judges_where_there_is_nothing_to_judge_are_refused() -> None:
    assert run_of(asked(PLAIN), PLAIN_OUTLINE, RUNNING, AT).judging is None
    with pytest.raises(UsageError, match="nothing to judge"):
        run_of(asked(PLAIN, "simulator:a"), PLAIN_OUTLINE, RUNNING, AT)
    with pytest.raises(UsageError, match="stand alone"):
        run_of(asked(SUITE, "none", "simulator:a"), OUTLINE, RUNNING, AT)


def test_a_verdict_of_judges_stands_before_any_without_them() -> None:
    with_judges = make_verdict()
    without = make_verdict(closing="unasked:10", unasked="no", at=AT + timedelta(hours=1))
    again = make_verdict(closing="again:1", at=AT + timedelta(hours=2))
    assert latest_verdicts([without, with_judges]) == [with_judges]
    assert latest_verdicts([again, without, with_judges]) == [again]


def test_a_pair_with_several_flags_is_flagged_once_and_one_without_verdict_never() -> None:
    raised = {f"flag_{n}": Finding(value=True, verdicts=1) for n in (1, 2, 3, 4)}
    silent = {f"flag_{n}": Finding(reason="no verdict") for n in (1, 2, 3, 4)}
    verdicts = [make_verdict(flags=raised), make_verdict(pair_id="b" * 32, flags=silent)]
    [table] = pair_tables(verdicts, 0.05)
    flagged = table.shares["flagged"]
    assert (table.pairs, flagged.count, flagged.of, flagged.without) == (2, 1, 1, 1)


def test_a_judge_that_is_right_by_chance_is_warned_of() -> None:
    def checks(said: str) -> tuple[Check, ...]:
        replies = zip("ynynynynynynynyn", said, strict=True)
        words = {"y": "yes", "n": "no"}
        return tuple(
            Check(name=f"fits_{n}", judge="j", said=words[b], expected=words[a])
            for n, (a, b) in enumerate(replies)
        )

    good = make_verdict(control=True, target="good", checks=checks("ynynynynynynynyy"))
    bad = make_verdict(control=True, target="bad", checks=checks("yyyyyyyyyyyyyyyn"))
    result = {
        (judge_control.judge, judge_control.kind): judge_control
        for judge_control in judge_controls([good, bad])
    }
    assert (result["good", "yes_no"].right, result["good", "yes_no"].warning) == (15, None)
    assert result["bad", "yes_no"].warning == "it is right no more often than chance"
    assert "not put to the test" in (result["bad", "guess"].warning or "")


def test_votes_of_a_judge_that_fails_stand_apart_and_an_untested_one_still_counts() -> None:
    request = [("fits_0", "yes"), ("strays_0", "no")] * 8
    text: dict[str, list[str | None]] = {
        "good": ["yes", "no"] * 8,
        "bad": ["yes"] * 16,
        "untested": [None] * 16,
    }
    controls = [
        make_verdict(
            control=True,
            target=judge,
            pair_id=str(number) * 32,
            checks=tuple(
                Check(name=name, judge=judge, said=each, expected=right, reason="no reply")
                for (name, right), each in zip(request, replies, strict=True)
            ),
        )
        for number, (judge, replies) in enumerate(text.items())
    ]
    votes = {"good": "no", "bad": "yes", "untested": "no"}
    checks = tuple(Check(name="a_to_b", judge=judge, said=each) for judge, each in votes.items())
    pair = make_verdict(checks=checks)
    judges = judge_controls(controls)
    [counted] = counted_verdicts([pair], judges)
    assert (counted.flags["flag_1"].value, counted.flags["flag_1"].verdicts) == (True, 2)
    [apart] = failed_judges([pair], judges, 0.05)
    assert (apart.judge, apart.pairs[0].shares["flag_1"].count) == ("bad", 0)
    warnings_ = {judge.judge: judge.warning for judge in judges if judge.kind == "yes_no"}
    assert "not put to the test" in (warnings_["untested"] or "")
