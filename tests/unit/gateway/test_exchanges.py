"""Production answers become responses: in their window, with their groups, each with one id."""

from datetime import timedelta
from typing import Any

import pytest

from biaswatch.services.gateway.traffic.watchers import (
    mentioned_groups,
    response_of,
    without_position,
)
from biaswatch.shared.contracts import (
    Ending,
    Message,
    Monitor,
    PastTraffic,
    Purpose,
    Response,
    Role,
    Traffic,
    derived_id,
    window_run,
)
from biaswatch.shared.contracts.traffic import LONGEST_S, window_at
from biaswatch.shared.requests.traffic import SentResponse, exchange_of, sent_answer
from tests.support.records import AT, make_exchange, make_traffic_monitor

MONITOR = make_traffic_monitor()
TRAFFIC = Traffic(
    window_s=3600, mentions={"gender": {"female": ("she", "her"), "male": ("he", "his")}}
)


def response(traffic: Traffic = TRAFFIC, **fields: Any) -> Response:
    return response_of(make_exchange(**fields), MONITOR, traffic)


def sent(**fields: Any) -> SentResponse:
    return SentResponse.model_validate({"id": "1", "text": "Yes.", **fields})


def said(text: str, role: Role = Role.USER) -> tuple[Message, ...]:
    return (Message(role=role, content=text),)


def test_an_answer_belongs_to_the_run_of_its_window_whatever_will_measure_it() -> None:
    later = response(said_at=AT + timedelta(hours=2))
    window = window_at(AT, 3600)
    assert response().run == window_run(MONITOR, window, AT).id
    assert later.run == window_run(MONITOR, window.next.next, AT).id


def test_the_same_exchange_sent_again_is_the_same_response() -> None:
    again = response_of(make_exchange(at=AT + timedelta(minutes=5)), MONITOR, TRAFFIC)
    assert again.id == response().id
    assert response(key="another").id != response().id


def test_an_answer_that_says_another_time_in_its_window_is_the_same_answer() -> None:
    again = make_exchange(said_at=AT + timedelta(seconds=1))
    first, second = (
        sent_answer(item, MONITOR, TRAFFIC, response_of(item, MONITOR, TRAFFIC).id)
        for item in (make_exchange(), again)
    )
    assert first.key == second.key
    assert first.response_id < second.response_id
    assert {first.response_id[:8], second.response_id[:8]} == {first.of.run_id[:8]}


def test_an_answer_is_known_by_the_id_it_had_before_ids_were_in_order() -> None:
    before = without_position(response())
    assert before.id == sent_answer(make_exchange(), MONITOR, TRAFFIC, "r").answer_id
    assert before.id == derived_id("response", "default", Purpose.PRODUCTION, before.probe.id)
    assert without_position(before) == before


@pytest.mark.parametrize("window_s", [1, 3600, LONGEST_S])
def test_positions_in_a_window_are_in_the_order_of_time(window_s: int) -> None:
    window = window_at(AT, window_s)
    parts = [0, 0.25, 0.5, 1 - 1e-6]
    positions = [
        window.position_of(window.begins + part * (window.ends - window.begins)) for part in parts
    ]
    assert positions == sorted(set(positions))
    assert positions[:3] == [0, 2**30, 2**31]
    a_little, beyond = timedelta(microseconds=1), window.ends
    assert window.position_of(beyond) == window.position_of(beyond + a_little) == 2**32 - 1
    assert window.position_of(window.begins - a_little) == 0


def test_what_the_caller_says_of_an_answer_reaches_the_response() -> None:
    result = response(model="m-7", fingerprint="f", finish_reason="stop", groups={"age": "old"})
    assert (result.model, result.fingerprint, result.finish_reason) == ("m-7", "f", "stop")
    assert result.probe.groups == {"age": "old"}
    assert result.probe.measure == ("words",)
    assert result.text == "On its way."


def test_no_answer_is_a_failure_with_its_reason() -> None:
    result = response(text=None, reason="content_filter")
    assert (result.ending, result.reason, result.text) == (Ending.FAILED, "content_filter", None)


def test_an_exchange_without_a_unit_is_nobodys() -> None:
    result = response(unit_id=None)
    assert result.probe.set_id is None
    assert result.probe.unit_id == "answer-0"


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("Is she eligible?", {"mentioned_gender": "female"}),
        ("HIS parcel is late", {"mentioned_gender": "male"}),
        ("the shell of her boat", {"mentioned_gender": "female"}),
        ("the shell of a boat", {}),
        ("he said she would", {}),
        ("", {}),
    ],
)
def test_mentioned_groups_are_whole_words_of_one_group_alone(
    text: str, groups: dict[str, str]
) -> None:
    assert mentioned_groups(TRAFFIC, said(text)) == groups


def test_mentions_are_looked_for_in_what_users_said_alone() -> None:
    assert mentioned_groups(TRAFFIC, said("she", Role.ASSISTANT)) == {}


def test_words_of_a_monitor_are_words_and_no_patterns() -> None:
    odd = Traffic(window_s=60, mentions={"x": {"dots": ("a.c",), "any": ("abc",)}})
    assert mentioned_groups(odd, said("abc")) == {"mentioned_x": "any"}


def test_detected_groups_stand_beside_those_the_caller_knows() -> None:
    result = response(asked=said("Is she in?"), groups={"gender": "male"})
    assert result.probe.groups == {"gender": "male", "mentioned_gender": "female"}


def late(monitor: Monitor = MONITOR, **fields: Any) -> bool:
    return sent_answer(make_exchange(**fields), monitor, TRAFFIC, "r").late


def test_an_answer_is_late_if_it_was_taken_in_after_its_window_was_read() -> None:
    ends = window_at(AT, 3600).ends
    soon = ends + timedelta(seconds=MONITOR.upkeep.lateness_s)
    assert not late(at=soon)
    assert late(at=soon + timedelta(microseconds=1))


def test_an_answer_from_before_the_first_window_is_late_however_early_it_comes() -> None:
    first = window_at(MONITOR.since, 3600).begins
    assert not late(said_at=first, at=first)
    assert late(said_at=first - timedelta(microseconds=1), at=first)


def test_for_a_history_only_what_is_watched_live_is_late() -> None:
    history = PastTraffic(of="support", before=window_at(AT, 3600).begins)
    past = make_traffic_monitor(name="support-history", history=history)
    assert late(past, said_at=AT)
    assert not late(past, said_at=AT - timedelta(days=300), at=AT)


def test_sendings_are_told_apart_by_their_number_or_else_by_their_intake() -> None:
    def sending(**fields: Any) -> str:
        return sent_answer(make_exchange(**fields), MONITOR, TRAFFIC, "r").sending

    assert sending(sending=7) == sending(sending=7, at=AT + timedelta(seconds=1))
    assert sending(sending=7) != sending(sending=8)
    assert sending() != sending(at=AT + timedelta(seconds=1))


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"reason": "timeout"}, "either a text, or a reason"),
        ({"text": None}, "either a text, or a reason"),
        ({"prompt": "a", "messages": [{"role": "user", "content": "b"}]}, "not both"),
        ({"at": (AT + timedelta(days=1)).isoformat()}, "is in the future"),
        ({"groups": {"mentioned_gender": "female"}}, "detected here"),
    ],
)
def test_what_contradicts_itself_is_refused(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        exchange_of("support", sent(**fields), AT)


def test_a_prompt_is_what_the_user_said_and_now_is_when_nothing_else_is_told() -> None:
    result = exchange_of("support", sent(prompt="Hello?", unit="u"), AT)
    assert (result.said_at, result.asked, result.unit_id) == (AT, said("Hello?"), "u")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>Rating: 1</think>\nRating: 3", (Ending.ANSWERED, "Rating: 3", None)),
        ("<think>Rating: 1", (Ending.FAILED, None, "truncated")),
        ("<think>Rating: 1</think>", (Ending.FAILED, None, "empty")),
    ],
)
def test_reasoning_in_an_answer_is_kept_apart_from_it(
    text: str, expected: tuple[Ending, str | None, str | None]
) -> None:
    result = response(text=text)
    assert (result.ending, result.text, result.reason) == expected
    assert result.reasoning == "Rating: 1"
