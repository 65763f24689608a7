"""A gateway that is started again is waited for; one that was never there, or is gone, is not."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from biaswatch.local import gateway_requests
from biaswatch.local.gateway_requests import LONGEST_WAIT_S, GatewayRequests, wait_s
from biaswatch.shared.errors import TransientError, UsageError

Reply = Callable[[httpx2.Request], httpx2.Response]


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_requests, "PAUSE_S", 0)


def served_by(
    *replies: int | type[httpx2.HTTPError], gone: bool = False, patience_s: float = 60
) -> tuple[GatewayRequests, list[str]]:
    """Return requests to a gateway that replies so, one after the other, and what it is asked."""
    left, seen = list(replies), list[str]()

    def reply(request: httpx2.Request) -> httpx2.Response:
        seen.append(f"{request.method} {request.url.path}")
        came = left.pop(0)
        if isinstance(came, int):
            return httpx2.Response(came, json={"detail": f"It says {came}."})
        raise came("away")

    requests = GatewayRequests("http://gateway", None, gone=lambda: gone, patience_s=patience_s)
    requests._http = httpx2.AsyncClient(
        base_url="http://gateway", transport=httpx2.MockTransport(reply)
    )
    return requests, seen


AWAY: list[Any] = [httpx2.ConnectError, httpx2.ReadError, httpx2.RemoteProtocolError, 502, 503, 504]


@pytest.mark.parametrize("away", AWAY)
@pytest.mark.parametrize("verb", ["GET", "POST"])
async def test_a_gateway_that_has_answered_is_waited_for(away: Any, verb: str) -> None:
    requests, seen = served_by(200, away, away, 200)
    await requests.ask("GET", "/v1/runs")
    assert await requests.ask(verb, "/v1/runs", repeatable=True)
    assert len(seen) == 4


@pytest.mark.parametrize("away", AWAY)
async def test_a_gateway_that_never_answered_is_not_waited_for(away: Any) -> None:
    requests, seen = served_by(away, 200)
    with pytest.raises(TransientError, match=r"does not answer|It says 50"):
        await requests.ask("GET", "/v1/runs")
    assert len(seen) == 1


async def test_what_may_have_arrived_is_not_sent_twice_where_that_would_do_it_twice() -> None:
    requests, seen = served_by(200, httpx2.ConnectError, 200, httpx2.ReadError, 200)
    await requests.ask("GET", "/v1/runs")
    await requests.ask("POST", "/v1/interpretations")  # it never arrived, so it is sent again
    with pytest.raises(TransientError, match="ReadError"):
        await requests.ask("POST", "/v1/interpretations")
    assert len(seen) == 4


async def test_a_platform_of_this_machine_that_has_ended_is_not_waited_for() -> None:
    requests, _ = served_by(200, httpx2.ConnectError, gone=True)
    await requests.ask("GET", "/v1/runs")
    with pytest.raises(TransientError, match="does not answer"):
        await requests.ask("GET", "/v1/runs")


async def test_patience_ends() -> None:
    requests, _ = served_by(200, *[httpx2.ConnectError] * 3, patience_s=0)
    await requests.ask("GET", "/v1/runs")
    with pytest.raises(TransientError, match="does not answer"):
        await requests.ask("GET", "/v1/runs")


async def test_a_refusal_is_said_at_once() -> None:
    requests, seen = served_by(200, 404, 200)
    await requests.ask("GET", "/v1/runs")
    with pytest.raises(UsageError, match="It says 404"):
        await requests.ask("GET", "/v1/runs/x")
    assert len(seen) == 2


async def test_a_gateway_that_is_full_is_waited_for_however_long_it_says_so() -> None:
    requests, seen = served_by(*[429] * 9, 200, patience_s=0)
    assert await requests.ask("POST", "/v1/responses", repeatable=True)
    assert len(seen) == 10


async def test_what_must_not_be_sent_twice_is_not_sent_again_to_a_full_gateway() -> None:
    requests, seen = served_by(429, 200)
    with pytest.raises(UsageError, match="It says 429"):
        await requests.ask("POST", "/v1/interpretations")
    assert len(seen) == 1


def test_the_wait_is_what_the_gateway_asks_for_within_bounds() -> None:
    asked = [wait_s(item) for item in ("3", "100000", "", "soon", "-1")]
    assert asked == [3.0, LONGEST_WAIT_S, *[gateway_requests.PAUSE_S] * 3]
