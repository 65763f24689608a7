"""What the gateway makes of judges and verdicts: who judges, which verdict stands, who can read."""

from collections.abc import Mapping
from datetime import timedelta
from math import log
from random import Random

import pytest

from biaswatch.bbq.rows import BbqRow
from biaswatch.bbq.suite import suite_of
from biaswatch.render.studies import flagged_pairs
from biaswatch.shared.analysis.studies.judges import counted_verdicts, judge_controls, only_votes_of
from biaswatch.shared.analysis.studies.pairs import pair_tables
from biaswatch.shared.analysis.studies.self_preference import self_preferences
from biaswatch.shared.contracts import (
    Check,
    DrawnAnswer,
    ExtractorStatus,
    Finding,
    LabelStratum,
    PairVerdict,
    Suite,
    derived_id,
    verdicts_expected,
)
from biaswatch.shared.contracts.judge_votes import corrected_of
from biaswatch.shared.contracts.pair_verdict import latest_verdicts
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.run_views import FlaggedPair, FlaggedSide, JudgeControls
from biaswatch.shared.requests.runs import RunRequest, run_of
from biaswatch.shared.stats.judges.corrected_rates import corrected_rate
from biaswatch.shared.stats.judges.examination import share_right
from biaswatch.shared.stats.judges.results import KindResult
from biaswatch.shared.stats.krippendorff import krippendorff_alpha
from tests.support.bbq_rows import make_bbq_row
from tests.support.records import AT, make_label, make_label_sample, make_verdict
from tests.support.suite_outlines import outline_of

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


def flags(*values: bool | None) -> dict[str, Finding]:
    names = (f"flag_{n}" for n in (1, 2, 3, 4))
    return {name: Finding(value=value) for name, value in zip(names, values, strict=True)}


def test_statements_of_several_flags_have_bounds_where_verdicts_are_missing() -> None:
    known = [(True, False, False, False), (True, False, True, False), (False,) * 4]
    open_ = [(False, False, None, None), (True, None, None, None)]
    tables = [
        pair_tables([make_verdict(pair_id=f"{n:032}", flags=flags(*row))
                     for n, row in enumerate(rows)], 0.05)[0]
        for rows in (known, known + open_)
    ]  # fmt: skip
    whole, partial = (table.shares for table in tables)
    names = ("flagged", "inconsistent", "biased", "both_flagged", "consistent")
    assert [whole[name].count for name in names] == [2, 2, 1, 1, 1]
    assert [partial[name].count for name in names] == [3, 3, 1, 1, 1]
    assert [partial[name].without for name in names] == [1, 0, 2, 1, 1]
    flagged = partial["flagged"].share
    assert (flagged.value, flagged.low, flagged.high) == (None, 3 / 5, 4 / 5)
    assert "1 of 5 pairs" in (flagged.reason or "")


def controls(judge: str, replies: Mapping[str, str | None]) -> PairVerdict:
    """Make the controls of a judge: what it says to questions whose reply is yes, and no."""
    checks = tuple(
        Check(
            name=f"fit-{direction}-plain-0-{number}",
            judge=judge,
            said=replies[expected],
            expected=expected,
            reason="no reply",
        )
        for direction, expected in (("positive", "yes"), ("negative", "no"))
        for number in range(40)
    )
    return make_verdict(control=True, target=judge, pair_id=derived_id(judge), checks=checks)


def test_votes_of_judges_that_fail_or_give_no_reply_stand_apart() -> None:
    texts: dict[str, dict[str, str | None]] = {
        "good": {"yes": "yes", "no": "no"},
        "bad": {"yes": "yes", "no": "yes"},
        "silent": {"yes": None, "no": None},
    }
    votes = {"good": "no", "bad": "yes", "silent": "no"}
    checks = tuple(Check(name="a_to_b", judge=judge, said=vote) for judge, vote in votes.items())
    pair = make_verdict(checks=checks)
    judges = judge_controls([controls(judge, replies) for judge, replies in texts.items()])
    [counted] = counted_verdicts([pair], judges)
    assert (counted.flags["flag_1"].value, counted.flags["flag_1"].verdicts) == (True, 1)
    reasons = {judge.judge: judge.result.reason for judge in judges}
    assert (reasons["good"], reasons["bad"]) == (None, "it always says yes")
    assert "not examined" in (reasons["silent"] or "")
    failed = {judge.judge: judge for judge in judges if judge.fails}
    assert failed.keys() == {"bad", "silent"}
    [table] = pair_tables(only_votes_of([pair], failed["bad"]), 0.05)
    assert table.shares["flag_1"].count == 0


def test_votes_in_a_language_without_controls_do_not_count() -> None:
    checks = (Check(name="a_to_b", judge="good", said="no"),)
    pairs = [
        make_verdict(pair_id=derived_id(language), checks=checks, facts={"language": language})
        for language in ("en", "de", "xx")
    ]
    examined = controls("good", {"yes": "yes", "no": "no"})
    judges = judge_controls([*pairs, examined])
    reasons = {row.language: row.result.reason for row in judges}
    assert reasons == {
        "en": None,
        "de": "not examined in the language 'de'",
        "xx": "not examined in the language 'xx'",
    }
    flags = [verdict.flags["flag_1"].value for verdict in counted_verdicts(pairs, judges)]
    assert flags == [True, None, None]
    assert judge_controls(pairs, examined=False) == []


def test_shares_are_corrected_by_the_errors_of_the_only_judge() -> None:
    pairs = [
        make_verdict(pair_id=f"{n:032}", flags=flags(n < 40, None, None, None),
                     checks=(Check(name="a_to_b", judge="good", said="no"),))
        for n in range(100)
    ]  # fmt: skip
    judges = judge_controls([controls("good", {"yes": "yes", "no": "no"})])
    shares = pair_tables(pairs, 0.05, judges)[0].shares
    corrected = shares["flag_1"].corrected
    expected = corrected_rate([(40, 100)], sensitivity=(40, 40), specificity=(40, 40), alpha=0.05)
    assert corrected == expected
    assert shares["flag_2"].corrected is None
    assert pair_tables(pairs, 0.05)[0].shares["flag_1"].corrected is None


def test_a_weighted_jury_follows_the_judge_that_is_more_often_right_on_controls() -> None:
    votes = {"sure": "no", "unsure": "yes", "third": "yes"}
    checks = tuple(Check(name="own_a", judge=judge, said=text) for judge, text in votes.items())
    pair = make_verdict(checks=checks, corrected=corrected_of(checks))
    results = [
        JudgeControls(
            judge=judge,
            result=KindResult(
                "fit", share_right(n, 40), share_right(n, 40), right=(n, n), controls=(40, 40)
            ),
        )
        for judge, n in (("sure", 40), ("unsure", 30), ("third", 30))
    ]
    [majority] = counted_verdicts([pair], results)
    [weighted] = counted_verdicts([pair], results, weighted=True)
    assert (majority.corrected["own_a"].value, weighted.corrected["own_a"].value) == (True, False)
    sure, unsure = log(81), log(61 / 21)
    agreement = weighted.corrected["own_a"].agreement
    assert agreement == pytest.approx(sure / (sure + 2 * unsure))


def test_self_preference_is_beyond_what_other_judges_see_in_the_same_answers() -> None:
    def pair(number: int, target: str, replies: Mapping[str, str]) -> PairVerdict:
        checks = tuple(
            Check(name="own_a", judge=name, said=reply) for name, reply in replies.items()
        )
        return make_verdict(
            pair_id=derived_id(target, number), set_id=f"set {number}", target=target,
            checks=checks, facts={"template": str(number % 20)},
        )  # fmt: skip

    pairs = []
    for number in range(80):
        better = "yes" if number % 2 else "no"
        other = "yes" if number % 4 else "no"
        pairs += [
            pair(number, "openai:own?temperature=0", {"openai:own": "yes", "openai:two": other}),
            pair(number, "openai:else", {"openai:own": better, "openai:two": better}),
        ]
    preference = next(row for row in self_preferences(pairs, 0.05) if row.judge == "openai:own")
    assert (preference.pairs, preference.other_judges) == (80, 1)
    assert preference.difference.value == pytest.approx(0.5 - 0.25)
    alone = [
        verdict.model_copy(update={"checks": verdict.checks[:1]}) for verdict in pairs
    ]  # without the other judge
    [raw] = self_preferences(alone, 0.05)
    assert raw.other_judges == 0
    assert raw.difference.value == pytest.approx(0.5)
    assert self_preferences(pairs[::2], 0.05) == []  # no answers of another model


def test_shares_are_corrected_by_labels_of_a_random_sample() -> None:
    rng = Random(4)
    pairs, labels, drawn = [], [], []
    for number in range(400):
        true, seen = rng.random() < 0.2, rng.random() < 0.4
        pair = make_verdict(
            pair_id=derived_id("pair", number), flags=flags(true or seen, None, None, None),
            facts={"template": str(number % 25)},
        )  # fmt: skip
        pairs.append(pair)
        if number % 4 == 0:
            drawn.append(DrawnAnswer(response_id=pair.pair_id, stratum=0, probability=0.25))
            labels.append(
                make_label(
                    response_id=pair.pair_id, extractor="oracle", feature="flag_1",
                    value=float(true), run_id=pair.run_id,
                )
            )  # fmt: skip
    stratum = LabelStratum(
        target=pairs[0].target, scaffold=pairs[0].scaffold, group="all", answers=400, drawn=100,
        least_probability=0.25,
    )  # fmt: skip
    sample = make_label_sample(
        extractor="oracle", feature="flag_1", dimension="judged", strata=(stratum,),
        drawn=tuple(drawn), low=0.0, high=1.0, choices=(0.0, 1.0), wanted=100,
    )  # fmt: skip
    share = pair_tables(pairs, 0.05, (), [sample], labels)[0].shares["flag_1"]
    assert share.share.value == pytest.approx(0.52, abs=0.06)
    assert share.labelled is not None
    assert (share.labelled.low or 0) < 0.2 < (share.labelled.high or 0) < 0.4
    few = pair_tables(pairs, 0.05, (), [sample], labels[:19])[0].shares["flag_1"].labelled
    assert few is not None
    assert "20" in (few.reason or "")
    assert pair_tables(pairs, 0.05)[0].shares["flag_1"].labelled is None


def test_agreement_of_judges_is_krippendorffs_alpha_by_kind() -> None:
    replies = [("no", "no"), ("no", "yes"), ("yes", "yes"), ("yes", "yes"), ("no", "no")]
    pairs = [
        make_verdict(
            pair_id=f"{n:032}",
            checks=tuple(
                Check(name="own_a", judge=judge, said=text)
                for judge, text in zip(("x", "y"), row, strict=True)
            ),
        )
        for n, row in enumerate(replies * 4)
    ]
    [agreement] = pair_tables(pairs, 0.05)[0].agreement.items()
    units = [[float(item == "no") for item in row] for row in replies * 4]
    assert agreement[0] == "fit"
    assert agreement[1].value == pytest.approx(krippendorff_alpha(units)[0])
    assert (agreement[1].low or 0) < (agreement[1].value or 0) < (agreement[1].high or 0) <= 1
    assert pair_tables([make_verdict(checks=pairs[0].checks[:1])], 0.05)[0].agreement == {}


def flagged_pair(target: str, number: int) -> FlaggedPair:
    side = FlaggedSide(question="Who?", chosen="A", answer="Ida", reasoning="It was Ida.")
    return FlaggedPair(
        target=target, scaffold="direct", set_id=f"set {number}", repeat=0, category="c",
        condition="ambig", answers="different", context="Ida rowed.", a=side, b=side,
        flags=["flag_1"], explanations={},
    )  # fmt: skip


def test_a_document_shows_as_many_flagged_pairs_of_each_model_as_wanted() -> None:
    pairs = [flagged_pair(target, n) for n in range(30) for target in ("one", "another")]
    few, full = ("\n".join(flagged_pairs(pairs, most)) for most in (20, None))
    assert (few.count("<summary>"), full.count("<summary>")) == (40, 60)
    assert few.count(", one:") == few.count(", another:") == 20
    assert "20 more: `--pairs all`, or `--format jsonl`." in few
    assert full.index("set 29, another") < full.index("set 0, one")
