"""Alarms in words and as alerts: escaped for every medium, firing while they stand."""

import json
from datetime import timedelta

import pytest
from pydantic import ValidationError

from biaswatch.services.notifier.channels.alertmanager import AlertmanagerChannel, alerts_of
from biaswatch.services.notifier.channels.webhook import webhook_body
from biaswatch.services.notifier.domain.attempts import (
    BACKOFF,
    STALE_AFTER_S,
    Attempt,
    Delivered,
    Refused,
    Unavailable,
    attempt_of,
    settled,
    trial_alarm,
)
from biaswatch.services.notifier.handlers.operator_channels import CHANNELS_FILE
from biaswatch.shared.contracts import Alarm, AlarmState
from biaswatch.shared.contracts.alarm_delivery import (
    AlarmDelivery,
    DeliveryState,
    deliveries_of,
    trial_of,
)
from biaswatch.shared.presentation.alarm_messages import message_of, plain
from tests.support.records import AT, make_alarm

URL = "http://alertmanager:9093"
ALERTMANAGER = AlertmanagerChannel(kind="alertmanager", url=URL, labels={"team": "fairness"})


def cleared(after: timedelta, **fields: object) -> Alarm:
    return make_alarm(state=AlarmState.CLEARED, at=AT + after, **fields)


@pytest.mark.parametrize(
    "hostile",
    [
        "<b>", "<!channel>", "<@U123>", "@everyone", "hello @here", "[click](http://evil.example)",
        "https://evil.example", "`rm`", "a\nb", "a\x00b", "a\u202eb", "a\x1b[31mb",
    ],
)  # fmt: skip
def test_no_text_of_others_is_markup_in_any_medium(hostile: str) -> None:
    written = plain(hostile)
    for opening in ("<", ">", "`", "](", "://", "\n", "\x00", "\x1b", "\u202e"):
        assert opening not in written
    assert "@everyone" not in written
    assert "@here" not in written


def test_the_title_of_an_alarm_says_what_is_compared_in_words() -> None:
    compared = "words: France minus Peru, by concept"
    named = make_alarm(title=compared)
    assert message_of(named, None).title == f"coasts: disparity in {compared}"
    older = make_alarm()
    assert message_of(older, None).title == f"coasts: disparity in {older.comparison_key}"
    [alert] = alerts_of([named], ALERTMANAGER, AT)
    assert alert["annotations"]["summary"].endswith(f"in {compared}")
    assert alert["labels"]["comparison"] == "concept:France-Peru"  # machines go by the key


def test_a_mail_address_stays_one_that_can_be_copied() -> None:
    assert plain("for fairness@example.org") == "for fairness@example.org"


def test_a_title_is_the_same_when_the_alarm_is_over_so_that_pagers_close_their_incident() -> None:
    raised, over = make_alarm(), cleared(timedelta(hours=1))
    assert message_of(raised, None).title == message_of(over, None).title
    assert message_of(over, None).over
    assert message_of(over, None).body.startswith("Over: ")


def test_a_message_says_why_how_much_and_where_to_look() -> None:
    body = message_of(make_alarm(owners=("fairness@example.org",)), "https://bias.example/").body
    assert body.splitlines() == [
        "Raised: the evidence is enough",
        "Gap, first group minus second: 0.5 (0.2 to 0.8)",
        "Round 3, 2026-01-02 03:04 UTC",
        "For fairness@example.org",
        f"The answers behind it: https://bias.example/monitors/coasts/alarms#{make_alarm().id}",
    ]
    assert message_of(make_alarm(), None).body.endswith("biaswatch monitor show coasts --alarms")


def test_what_stands_fires_until_a_few_sends_are_missed() -> None:
    now = AT + timedelta(hours=3)
    [alert] = alerts_of([make_alarm()], ALERTMANAGER, now)
    assert alert["labels"] == {
        "team": "fairness", "alertname": "BiasMonitorAlarm", "monitor": "coasts",
        "feature": "words.words", "comparison": "concept:France-Peru", "what": "disparity",
        "severity": "warning",
    }  # fmt: skip
    assert alert["startsAt"] == AT.isoformat()
    assert alert["endsAt"] == (now + timedelta(minutes=4)).isoformat()
    assert alert["annotations"]["description"] == "the evidence is enough."


def test_what_is_over_is_resolved_under_the_same_labels_for_a_while() -> None:
    hour = timedelta(hours=1)
    raised, over = make_alarm(), cleared(hour)
    [fired] = alerts_of([raised], ALERTMANAGER, AT)
    [resolved] = alerts_of([raised, over], ALERTMANAGER, AT + hour)
    assert resolved["labels"] == fired["labels"]
    assert (resolved["startsAt"], resolved["endsAt"]) == (AT.isoformat(), over.at.isoformat())
    assert alerts_of([raised, over], ALERTMANAGER, AT + 2 * hour) == []


def test_an_alarm_that_is_raised_again_in_another_epoch_fires_again() -> None:
    again = make_alarm(epoch=1, at=AT + timedelta(hours=2))
    history = [make_alarm(), cleared(timedelta(hours=1)), again]
    [alert] = alerts_of(history, ALERTMANAGER, again.at)
    assert alert["startsAt"] == again.at.isoformat()
    assert alert["endsAt"] > again.at.isoformat()


@pytest.mark.parametrize(
    ("channel", "message"),
    [
        ({"kind": "alertmanager", "url": "http://user:pw@host:9093"}, "written like"),
        ({"kind": "alertmanager", "url": URL, "labels": {"monitor": "x"}}, "alarm itself"),
        ({"kind": "alertmanager", "url": URL, "labels": {"a-b": "x"}}, "not a name of a label"),
        ({"kind": "alertmanager", "url": URL, "username": "a"}, "belong together"),
        ({"kind": "apprise", "url": "slack://a/b/c"}, "write {file: PATH}"),
        ({"kind": "apprise", "url": {"file": "a", "env": "B"}}, "one place"),
        ({"kind": "apprise", "url": {}}, "one place"),
        ({"kind": "webhook", "url": {"env": "URL"}, "tokne": "x"}, "no such field"),
        ({"kind": "fax"}, "fax"),
    ],
)
def test_a_wrong_channel_is_refused_and_no_secret_is_repeated(
    channel: dict[str, object], message: str
) -> None:
    from biaswatch.shared.contracts.mistakes import first_mistake

    with pytest.raises(ValidationError) as caught:
        CHANNELS_FILE.model_validate({"channels": {"chat": channel}})
    assert message in first_mistake(caught.value).sentence
    assert "pw" not in first_mistake(caught.value).sentence


def due(**fields: object) -> AlarmDelivery:
    [made] = deliveries_of(make_alarm(channels=("chat",)), AT)
    return made.model_copy(update=fields)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(200, Delivered), (202, Delivered), (302, Refused), (400, Refused), (401, Refused),
     (404, Refused), (408, Unavailable), (429, Unavailable), (500, Unavailable),
     (503, Unavailable)],
)  # fmt: skip
def test_what_may_help_later_is_tried_again_and_nothing_else(
    status: int, kind: type[Attempt]
) -> None:
    assert isinstance(attempt_of(status, "chat.example"), kind)


def test_pauses_double_up_to_five_minutes_and_follow_what_the_channel_asks() -> None:
    assert [BACKOFF.requested_s(None, n, 1.0) for n in (1, 2, 3, 99)] == [5.0, 10.0, 20.0, 300.0]
    assert BACKOFF.requested_s(120.0, 1, 0.0) == 120.0
    assert BACKOFF.requested_s(1e9, 1, 0.0) == 3600.0


def test_what_nobody_takes_for_seven_days_expires() -> None:
    waits = settled(due(attempts=3), Unavailable("down"), AT, 0.5)
    assert (waits.state, waits.why) == (DeliveryState.WAITING, "down")
    late = AT + timedelta(seconds=STALE_AFTER_S + 1)
    assert settled(due(attempts=3), Unavailable("down"), late, 0.5).state is DeliveryState.EXPIRED


def test_a_trial_names_itself_before_anything_else() -> None:
    message = message_of(trial_alarm(trial_of("chat", AT, "default")), None)
    assert "A trial, no alarm: disparity in" in message.title
    assert "This is a trial of the channel" in message.body.splitlines()[0]


def test_a_trial_is_sent_once() -> None:
    trial = trial_of("chat", AT, "default")
    assert settled(trial, Unavailable("down"), AT, 0.5).state is DeliveryState.REFUSED
    assert settled(trial, Delivered(), AT, 0.5).state is DeliveryState.DELIVERED


def test_an_alarm_goes_to_each_channel_once_and_to_its_monitors_webhook() -> None:
    alarm = make_alarm(channels=("chat", "mail", "chat"), webhook="https://hooks.example/")
    assert [delivery.channel for delivery in deliveries_of(alarm, AT)] == [
        "chat",
        "mail",
        "webhook/coasts",
    ]


def test_numbers_of_a_webhook_have_no_rounding_errors() -> None:
    alarm = make_alarm(second_mean=1.02 - 1)
    assert alarm.second_mean != 0.02
    assert json.loads(webhook_body(alarm))["alarm"]["second_mean"] == 0.02
