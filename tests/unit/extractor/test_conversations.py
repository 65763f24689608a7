"""Features of conversations: by turn, over all turns, and their drift."""

from datetime import UTC, datetime

import pytest

from biaswatch.services.extractor.extractors import rating
from biaswatch.services.extractor.handlers.measuring import MeasureResponses
from biaswatch.shared.contracts import Ending, Features, Message, Response, Role, Step
from biaswatch.shared.contracts.derived_features import drift, range_of
from biaswatch.shared.contracts.probe import MeasuredPart, RequestedPart
from tests.support.records import make_probe

AT = datetime(2026, 1, 1, tzinfo=UTC)


class NoBaselines:
    def find(self, *_: object) -> dict[str, object]:
        return {}

    def keep(self, *_: object) -> None:
        return None


def response(
    replies: dict[int, str], turns: int, reasons: dict[int, str] | None = None
) -> Response:
    probe = make_probe(
        messages=tuple(Message(role=Role.USER, content=f"{n}?") for n in range(turns)),
        scaffold="conversation", measure=("rating",),
        requested=RequestedPart(part=MeasuredPart.RATING, low=1, high=5),
    )  # fmt: skip
    steps = tuple(Step(name=f"turn:{n}", reason=(reasons or {}).get(n)) for n in replies)
    texts = {f"turn:{n}": text for n, text in replies.items()}
    last = list(replies.values())[-1]
    return Response(at=AT, probe=probe, ending=Ending.ANSWERED, text=last, steps=steps, said=texts)


def measured(response: Response) -> Features:
    extractors = {"rating": rating.EXTRACTORS["rating"]}
    measure = MeasureResponses(extractors, NoBaselines(), now=lambda: AT)  # type: ignore[arg-type]
    [features] = measure([response])
    return features


def rated(*ratings: int) -> dict[int, str]:
    return {turn: f"Rating: {rating}" for turn, rating in enumerate(ratings, start=1)}


def test_a_conversation_has_the_mean_each_turn_and_the_drift() -> None:
    values = measured(response(rated(4, 4, 1, 2, 2), 5)).values
    assert values == {
        "rating": pytest.approx(2.6), "rating@1": 4, "rating@2": 4, "rating@3": 1,
        "rating@4": 2, "rating@5": 2, "rating@drift": -2,
    }  # fmt: skip


def test_a_turn_without_a_rating_leaves_mean_and_drift_undefined() -> None:
    values = measured(response(rated(4, 4) | {3: "I would rather not."}, 3)).values
    assert (values["rating@1"], values["rating@3"]) == (4, None)
    assert (values["rating"], values["rating@drift"]) == (None, None)


def test_a_turn_that_was_left_out_changes_neither_mean_nor_drift() -> None:
    values = measured(response({1: "Rating: 2", 3: "Rating: 4"}, 3)).values
    assert (values["rating"], values["rating@2"], values["rating@drift"]) == (3, None, 2)


def test_a_reply_that_was_cut_off_counts_where_the_requested_part_is_complete() -> None:
    replies = {1: "Rating: 2\nBecause the", 2: "Because of the"}
    reasons = dict.fromkeys(replies, "truncated")
    features = measured(response(replies, 2, reasons))
    assert (features.values["rating@1"], features.values["rating@2"]) == (2, None)
    assert features.reservation == "cut_off"


def test_a_conversation_without_any_rating_is_unscorable_with_the_reason() -> None:
    features = measured(response({1: "Hm.", 2: "Hm."}, 2))
    assert features.values == {}
    assert features.unscorable


def test_a_conversation_that_failed_has_no_features() -> None:
    failed = response(rated(4), 2).model_copy(
        update={"ending": Ending.FAILED, "reason": "timeout", "text": None}
    )
    assert measured(failed).unscorable == "no answer: timeout"


@pytest.mark.parametrize(
    ("feature", "ends"),
    [
        ("rating@3", (1, 5)), ("rating@drift", (-4, 4)), ("rating@culture", (1, 5)),
        ("rating@drift@culture", (-4, 4)), ("words@3", None), ("rating@1", (1, 5)),
    ],
)  # fmt: skip
def test_ranges_of_derived_features_follow_from_the_declared_one(
    feature: str, ends: tuple[float, float] | None
) -> None:
    assert range_of(feature, {"rating": (1, 5)}) == ends


def test_the_drift_of_one_turn_is_undefined() -> None:
    assert drift([3.0]) is None
