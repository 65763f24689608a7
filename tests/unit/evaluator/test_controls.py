"""Controls of judges: what is asked, who fails and why, and what moves scores."""

from collections.abc import Mapping
from random import Random

import pytest

from biaswatch.services.evaluator.domain.controls.known_texts import control_subject, known_texts
from biaswatch.services.evaluator.domain.controls.standings import (
    control_replies,
    control_requests,
    failure_of,
    shipped_dimensions,
    standings_of,
)
from biaswatch.services.evaluator.handlers.rubric_files import load_rubric
from biaswatch.shared.contracts import ControlReply
from biaswatch.shared.stats.tables.two_by_two import two_by_two
from tests.support.records import AT, make_brief, make_response, make_target

LIBRARY = load_rubric()
SHIPPED = shipped_dimensions(LIBRARY.dimensions)
PROFILE = LIBRARY.profiles["general"]
DESERVED = {"perfect": 1.0, "faulty": 0.25, "off_topic": 0.0, "empty": 0.0}


def replies(scores: Mapping[str, float] = {}, repeats: int = 1) -> list[ControlReply]:
    """Make a judge's replies: each text's score by its name, or by `<name>_<change>`."""
    return [
        ControlReply(
            key=f"{known.dimension}-{known.name}-{known.changed}/{repeat}",
            judge="judge",
            dimension=known.dimension,
            text=known.name,
            changed=known.changed,
            repeat=repeat,
            at_least=known.at_least,
            at_most=known.at_most,
            score=scores.get(f"{known.name}_{known.changed}", scores.get(known.name)),
        )
        for known in known_texts()
        for repeat in range(repeats)
    ]


def test_each_judge_is_asked_about_seven_known_texts_and_four_copies_of_them() -> None:
    brief = make_brief(judges=(make_target(name="a"), make_target(name="b")), control_repeats=2)
    asked = list(control_requests(brief, SHIPPED, PROFILE, AT))
    assert len(asked) == 2 * 2 * (7 + 4)
    assert len({each.probe.id for each in asked}) == len(asked)
    off = brief.model_copy(update={"controls": False})
    assert list(control_requests(off, SHIPPED, PROFILE, AT)) == []


def test_a_copy_under_the_scale_the_other_way_round_differs_in_the_order_of_its_anchors() -> None:
    brief = make_brief(judges=(make_target(name="a"),))
    by_key = {
        each.key: each.probe.messages[0].content
        for each in control_requests(brief, SHIPPED, PROFILE, AT)
    }
    plain = by_key["control/interval-faulty/1/0"]
    turned = by_key["control/interval-faulty-reversed/1/0"]
    assert sorted(plain.splitlines()) == sorted(turned.splitlines())
    assert plain.index("- 1.0:") < plain.index("- 0.0:")
    assert turned.index("- 0.0:") < turned.index("- 1.0:")


def test_a_judge_that_grades_as_texts_deserve_passes_even_with_one_slip_of_a_step() -> None:
    good = replies(DESERVED)
    assert failure_of(good) is None
    slip = good[0].model_copy(update={"score": 0.5})
    assert failure_of([slip, *good[1:]]) is None
    fall = good[0].model_copy(update={"score": 0.0})
    assert failure_of([fall, *good[1:]]) is not None


@pytest.mark.parametrize(
    ("found", "named"),
    [
        (replies({"perfect": 1, "faulty": 1, "off_topic": 1, "empty": 1}), "it always says 1"),
        (replies(), "none of its replies can be read"),
        (replies({"perfect": 0.2, "faulty": 0.9, "off_topic": 0.4, "empty": 0.6}), "at random"),
        (
            replies({"perfect": 1, "faulty": 0.9, "off_topic": 0, "empty": 0}),
            "2 of 7 known texts wrongly",
        ),
        ([each.model_copy(update={"copied": True}) for each in replies()], "copies the text"),
    ],
)
def test_what_a_failing_judge_does_is_named(found: list[ControlReply], named: str) -> None:
    assert named in (failure_of(found) or "")


def test_hardly_any_judge_that_answers_at_random_passes() -> None:
    rng = Random(5)
    passed = 0
    for _ in range(2000):
        found = [each.model_copy(update={"score": rng.choice([0, 0.25, 0.5, 0.75, 1])})
                 for each in replies()]  # fmt: skip
        passed += failure_of(found) is None
    assert passed / 2000 < 0.02


def test_padding_and_a_turned_scale_show_as_biases_with_intervals() -> None:
    found = replies({**DESERVED, "faulty_padded": 0.5}, repeats=10)
    [standing] = standings_of(found)
    length, position = standing.length_bias, standing.position_bias
    assert length.value == pytest.approx(0.25)
    assert (length.low or 0) > 0
    assert position.value == 0
    assert (position.low or 0) < 0 < (position.high or 0)
    assert standing.fails is None


def test_a_reply_that_holds_the_text_is_a_copy_and_one_that_is_missing_has_a_reason() -> None:
    brief = make_brief(judges=(make_target(name="a"),))
    asked = list(control_requests(brief, SHIPPED, PROFILE, AT))
    echoed = {
        each.probe.id: make_response(probe=each.probe, text=f"Here it is: {each.known.text}")
        for each in asked[:3]
    }
    found = control_replies(asked, echoed)
    assert [each.copied for each in found[:4]] == [True, True, True, False]
    assert "no reply" in (found[-1].reason or "")
    assert standings_of(found)[0].right == 0


def test_a_failing_judge_counts_only_where_that_is_wanted() -> None:
    found = replies({"perfect": 1, "faulty": 1, "off_topic": 1, "empty": 1})
    assert [each.counts for each in standings_of(found)] == [False]
    assert [each.counts for each in standings_of(found, count_failed=True)] == [True]


def test_the_statistics_of_the_known_texts_are_those_of_their_table() -> None:
    subject = control_subject()
    found = two_by_two(*subject.counts).odds_ratio
    [measure] = subject.measures
    assert (measure.value, measure.low, measure.high) == pytest.approx(
        (found.value, found.low, found.high), abs=5e-4
    )
