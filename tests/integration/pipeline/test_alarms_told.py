"""Webhooks of alarms over real HTTP: posted until taken, escaped, never to private machines."""

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest
from fastapi import FastAPI, Request, Response

from services.diagnoser.handlers import PostAlarm
from shared.errors import PoisonError, TransientError
from tests.support.model_server import model_server
from tests.support.records import AT, make_alarm


class Receiver:
    """A webhook that keeps what it was told."""

    def __init__(self) -> None:
        self.status = 200
        self.told: list[bytes] = []
        self.url = ""
        self.app = FastAPI()

        @self.app.post("/v1/alarms")
        async def take(request: Request) -> Response:
            self.told.append(await request.body())
            return Response(status_code=self.status, headers={"Location": "http://127.0.0.1:1/"})


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    with model_server(found.app) as base:
        found.url = f"{base}/alarms"
        yield found


def tell(*hosts: str) -> PostAlarm:
    return PostAlarm(hosts, now=lambda: AT)


async def test_an_alarm_is_posted_with_its_numbers_and_an_escaped_sentence(
    receiver: Receiver,
) -> None:
    alarm = make_alarm(webhook=receiver.url, comparison_key="x.<script>:g:a-b")
    assert await tell("127.0.0.1")(alarm) == ()
    [body] = receiver.told
    said = json.loads(body)
    assert "<script>" not in said["text"]
    assert said["alarm"]["id"] == alarm.id
    assert "webhook" not in said["alarm"]


async def test_a_posted_alarm_leads_to_the_answers_behind_it(receiver: Receiver) -> None:
    alarm = make_alarm(webhook=receiver.url)
    await PostAlarm(["127.0.0.1"], "https://bias.example/", now=lambda: AT)(alarm)
    [body] = receiver.told
    link = f"https://bias.example/monitors/{alarm.monitor}/alarms#{alarm.id}"
    assert json.loads(body)["link"] == link


async def test_a_private_address_is_refused_unless_the_operator_names_it(
    receiver: Receiver,
) -> None:
    with pytest.raises(PoisonError, match="BIASWATCH_DIAGNOSER_PRIVATE_HOSTS"):
        await tell()(make_alarm(webhook=receiver.url))
    assert receiver.told == []


@pytest.mark.parametrize("status", [500, 503, 429, 408])
async def test_a_receiver_in_trouble_is_asked_again(receiver: Receiver, status: int) -> None:
    receiver.status = status
    with pytest.raises(TransientError, match=str(status)):
        await tell("127.0.0.1")(make_alarm(webhook=receiver.url))


@pytest.mark.parametrize("status", [400, 404, 307])
async def test_a_receiver_that_refuses_or_points_elsewhere_is_given_up(
    receiver: Receiver, status: int
) -> None:
    receiver.status = status
    with pytest.raises(PoisonError, match=str(status)):
        await tell("127.0.0.1")(make_alarm(webhook=receiver.url))
    assert len(receiver.told) == 1


async def test_nobody_there_is_tried_again_later() -> None:
    with pytest.raises(TransientError, match="does not answer"):
        await tell("127.0.0.1")(make_alarm(webhook="http://127.0.0.1:9/"))


async def test_without_a_webhook_or_long_afterwards_nothing_is_posted(receiver: Receiver) -> None:
    assert await tell("127.0.0.1")(make_alarm()) == ()
    late = PostAlarm(["127.0.0.1"], now=lambda: AT + timedelta(days=8))
    assert await late(make_alarm(webhook=receiver.url)) == ()
    assert receiver.told == []
