"""Alarms sent to real receivers on loopback: webhooks, Alertmanager's API, chat and mail."""

import io
import json
import logging
from collections.abc import Iterator, Mapping
from datetime import timedelta
from email import message_from_bytes, policy
from pathlib import Path

import pytest
import yaml

from biaswatch.services.notifier.domain.attempts import Attempt, Delivered, Refused, Unavailable
from biaswatch.services.notifier.handlers.operator_channels import (
    OperatorChannels,
    operator_channels,
)
from biaswatch.shared.contracts import Alarm, AlarmState
from biaswatch.shared.errors import ConfigurationError
from tests.support.alarm_receivers import HttpReceiver, MailReceiver, http_receiver, mail_receiver
from tests.support.records import AT, make_alarm

NO_VARIABLE = dict[str, str]().get
SECRET = "s3cr3t-t0ken-abcdef"
HOSTILE = "<script>alert(1)</script> @everyone [x](http://evil.example)"


@pytest.fixture
def receiver() -> Iterator[HttpReceiver]:
    with http_receiver() as result:
        yield result


@pytest.fixture
def everything_logged() -> Iterator[io.StringIO]:
    """Log as a process whose operator wants to see everything of every library."""
    root, written = logging.getLogger(), io.StringIO()
    handler, level = logging.StreamHandler(written), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield written
    root.setLevel(level)
    root.removeHandler(handler)


@pytest.fixture
def mails() -> Iterator[MailReceiver]:
    with mail_receiver() as result:
        yield result


def declared(
    folder: Path, channel: Mapping[str, object], *, hosts: tuple[str, ...] = (), **variables: str
) -> OperatorChannels:
    """Write a file with one channel, and read it as the notifier does."""
    file = folder / "channels.yaml"
    file.write_text(yaml.safe_dump({"channels": {"it": channel}}))
    return operator_channels(
        file, variables.get, private_hosts=hosts, dashboard_url="https://bias.example"
    )


async def send(channels: OperatorChannels, alarm: Alarm, *history: Alarm) -> Attempt:
    return await channels.send(alarm, "it", [*history, alarm], alarm.at)


def webhook_of_monitor(tmp_path: Path, *hosts: str) -> OperatorChannels:
    return declared(tmp_path, {"kind": "webhook", "url": {"env": "URL"}}, hosts=hosts)


async def to_monitor(channels: OperatorChannels, url: str, **fields: object) -> Attempt:
    alarm = make_alarm(webhook=url, **fields)
    return await channels.send(alarm, "webhook/coasts", [alarm], AT)


async def test_a_monitors_webhook_gets_numbers_an_escaped_sentence_and_a_link(
    receiver: HttpReceiver, tmp_path: Path
) -> None:
    channels = webhook_of_monitor(tmp_path, "127.0.0.1")
    sent = await to_monitor(channels, receiver.url, comparison_key="x.<script>:g:a-b")
    assert sent == Delivered()
    [(_, _, body)] = receiver.posted
    payload = json.loads(body)
    assert "<script>" not in payload["text"]
    assert "webhook" not in payload["alarm"]
    assert (
        payload["link"] == f"https://bias.example/monitors/coasts/alarms#{payload['alarm']['id']}"
    )


async def test_a_monitors_webhook_reaches_no_private_address_unless_the_operator_names_it(
    receiver: HttpReceiver, tmp_path: Path
) -> None:
    attempt = await to_monitor(webhook_of_monitor(tmp_path), receiver.url)
    assert isinstance(attempt, Refused)
    assert "BIASWATCH_NOTIFIER_PRIVATE_HOSTS" in attempt.why
    assert receiver.posted == []


@pytest.mark.parametrize("status", [500, 503, 429, 408])
async def test_a_receiver_in_trouble_is_asked_again_when_it_says(
    receiver: HttpReceiver, tmp_path: Path, status: int
) -> None:
    receiver.status, receiver.reply_headers = status, {"Retry-After": "17"}
    attempt = await to_monitor(webhook_of_monitor(tmp_path, "127.0.0.1"), receiver.url)
    assert attempt == Unavailable(f"127.0.0.1 answered {status}.", 17.0)


@pytest.mark.parametrize("status", [400, 404, 307])
async def test_a_receiver_that_refuses_or_points_elsewhere_is_given_up(
    receiver: HttpReceiver, tmp_path: Path, status: int
) -> None:
    receiver.status = status
    attempt = await to_monitor(webhook_of_monitor(tmp_path, "127.0.0.1"), receiver.url)
    assert attempt == Refused(f"127.0.0.1 answered {status}.")
    assert len(receiver.posted) == 1


async def test_nobody_there_is_tried_again_later(tmp_path: Path) -> None:
    attempt = await to_monitor(webhook_of_monitor(tmp_path, "127.0.0.1"), "http://127.0.0.1:9/")
    assert isinstance(attempt, Unavailable)


async def test_an_operators_webhook_gets_its_token_and_no_sentence_repeats_its_address(
    receiver: HttpReceiver, tmp_path: Path
) -> None:
    (tmp_path / "url").write_text(f"{receiver.url}/hooks/{SECRET}\n")
    (tmp_path / "token").write_text(f"{SECRET}\n")
    channel = {"kind": "webhook", "url": {"file": "url"}, "bearer_token": {"file": "token"}}
    channels = declared(tmp_path, channel)
    assert await send(channels, make_alarm()) == Delivered()
    [(path, headers, _)] = receiver.posted
    assert (path, headers["authorization"]) == (f"/hooks/{SECRET}", f"Bearer {SECRET}")
    receiver.status = 403
    attempt = await send(channels, make_alarm())
    assert attempt == Refused("127.0.0.1 answered 403.")


async def test_a_secret_is_read_anew_so_that_a_corrected_one_helps_at_once(
    receiver: HttpReceiver, tmp_path: Path
) -> None:
    channels = declared(tmp_path, {"kind": "webhook", "url": {"file": "url"}})
    missing = await send(channels, make_alarm())
    assert isinstance(missing, Unavailable)
    assert "the file url cannot be read" in missing.why
    (tmp_path / "url").write_text(receiver.url)
    assert await send(channels, make_alarm()) == Delivered()


async def test_alertmanager_hears_of_an_alarm_and_of_its_end_as_resolved(
    receiver: HttpReceiver, tmp_path: Path
) -> None:
    channel = {
        "kind": "alertmanager", "url": f"{receiver.url}/am/", "labels": {"team": "fairness"},
        "username": "bias", "password": {"env": "PASSWORD"},
    }  # fmt: skip
    channels = declared(tmp_path, channel, PASSWORD=SECRET)
    raised = make_alarm(reason=HOSTILE)
    over = make_alarm(state=AlarmState.CLEARED, at=AT + timedelta(hours=2))
    assert await send(channels, raised) == Delivered()
    assert await send(channels, over, raised) == Delivered()
    (path, headers, first), (_, _, second) = receiver.posted
    assert path == "/am/api/v2/alerts"
    assert headers["authorization"].startswith("Basic ")
    [fired], [resolved] = json.loads(first), json.loads(second)
    assert "<script>" not in fired["annotations"]["description"]
    assert fired["labels"] == resolved["labels"]
    assert fired["endsAt"] > AT.isoformat()
    assert resolved["endsAt"] == over.at.isoformat()
    assert fired["generatorURL"].startswith("https://bias.example/monitors/coasts/alarms#")


async def test_a_chat_gets_plain_words_in_which_nobody_can_hide_markup(
    receiver: HttpReceiver, tmp_path: Path
) -> None:
    url = f"mmost://{receiver.address}/{SECRET}"
    channels = declared(tmp_path, {"kind": "apprise", "url": {"env": "CHAT"}}, CHAT=url)
    assert await send(channels, make_alarm(reason=HOSTILE)) == Delivered()
    [(path, _, body)] = receiver.posted
    text = json.loads(body)["text"]
    assert path == f"/hooks/{SECRET}"
    assert text.startswith("coasts: disparity in words.words:concept:France-Peru")
    for hidden in ("<script>", "@everyone", "](", "http://"):
        assert hidden not in text
    assert "https://bias.example/monitors/coasts/alarms#" in text
    assert "github" not in body.decode(), "no picture is fetched from elsewhere"


@pytest.mark.parametrize(
    ("status", "kind"), [(403, Refused), (404, Refused), (500, Unavailable), (429, Unavailable)]
)
async def test_what_a_chat_answers_decides_whether_it_is_asked_again(
    receiver: HttpReceiver, tmp_path: Path, status: int, kind: type[Attempt]
) -> None:
    receiver.status = status
    url = f"mmost://{receiver.address}/{SECRET}"
    channels = declared(tmp_path, {"kind": "apprise", "url": {"env": "CHAT"}}, CHAT=url)
    attempt = await send(channels, make_alarm())
    assert isinstance(attempt, kind)
    assert str(status) in str(attempt)


async def test_a_mail_arrives_with_subject_and_words(mails: MailReceiver, tmp_path: Path) -> None:
    query = "from=bias@example.org&to=team@example.org&mode=insecure&format=html"
    url = f"mailto://127.0.0.1:{mails.port}?{query}"
    channels = declared(tmp_path, {"kind": "apprise", "url": {"env": "MAIL"}}, MAIL=url)
    assert await send(channels, make_alarm(reason=HOSTILE)) == Delivered()
    [envelope] = mails.mails
    assert (envelope.mail_from, envelope.rcpt_tos) == ("bias@example.org", ["team@example.org"])
    content = envelope.content
    assert isinstance(content, bytes)
    mail = message_from_bytes(content, policy=policy.default)
    assert mail["subject"] == "coasts: disparity in words.words:concept:France-Peru"
    assert b"<script>" not in content
    mails.reply = "550 no such user"
    refused = await send(channels, make_alarm())
    assert isinstance(refused, Refused), refused
    assert refused.why.endswith("answered 550.")
    mails.reply = "451 come back later"
    assert isinstance(await send(channels, make_alarm()), Unavailable)


@pytest.mark.parametrize(
    "url",
    [f"slack://{SECRET}", f"nonsense://x/{SECRET}", f"{SECRET}", f"mmost://127.0.0.1:9/{SECRET}",
     f"mailto://user:{SECRET}@127.0.0.1:9?from=a@b.example&to=c@d.example&mode=insecure"],
)  # fmt: skip
async def test_no_failure_tells_a_secret_in_its_sentence_or_in_a_log(
    url: str, tmp_path: Path, everything_logged: io.StringIO, capfd: pytest.CaptureFixture[str]
) -> None:
    channels = declared(tmp_path, {"kind": "apprise", "url": {"env": "X"}}, X=url)
    attempt = await send(channels, make_alarm())
    assert not isinstance(attempt, Delivered)
    assert SECRET not in attempt.why
    logging.getLogger("anybody").debug("logs are read")
    assert "logs are read" in everything_logged.getvalue()
    assert SECRET not in everything_logged.getvalue()
    assert SECRET not in "".join(capfd.readouterr())


async def test_a_channel_may_ask_not_to_hear_that_an_alarm_is_over(
    receiver: HttpReceiver, tmp_path: Path
) -> None:
    channel = {"kind": "webhook", "url": {"env": "URL"}, "cleared": False}
    channels = declared(tmp_path, channel, URL=receiver.url)
    assert await send(channels, make_alarm(state=AlarmState.CLEARED)) == Delivered()
    assert receiver.posted == []


async def test_a_channel_that_is_not_declared_is_refused_by_name(tmp_path: Path) -> None:
    channels = operator_channels(None, NO_VARIABLE)
    attempt = await send(channels, make_alarm())
    assert isinstance(attempt, Refused)
    assert "BIASWATCH_NOTIFIER_CHANNELS_FILE" in attempt.why


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("channels: [", "not YAML"),
        ("chanels: {}", "channels: this is missing, and there is no field chanels"),
        ("channels: {}", "empty"),
        ("channels: {a b: {kind: apprise, url: {env: X}}}", "letters, digits"),
        (f"channels: {{chat: {{kind: apprise, url: 'slack://{SECRET}'}}}}", "write {file: PATH}"),
    ],
)
def test_a_wrong_file_is_one_sentence_that_repeats_no_secret(
    written: str, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "channels.yaml"
    file.write_text(written)
    with pytest.raises(ConfigurationError, match=message) as caught:
        operator_channels(file, NO_VARIABLE)
    assert SECRET not in str(caught.value)


def test_a_status_says_what_is_missing_before_an_alarm_needs_it(tmp_path: Path) -> None:
    channels = declared(tmp_path, {"kind": "webhook", "url": {"env": "HOOK"}})
    [status] = channels.statuses(AT)
    assert status.trouble == "There is nothing in the variable HOOK."
