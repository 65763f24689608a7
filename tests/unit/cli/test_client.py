"""What the command line asks a gateway: names stay names, whatever they are made of."""

import pytest

from biaswatch.local.client import GatewayClient
from biaswatch.local.gateway_requests import path
from biaswatch.shared.errors import UsageError


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("hiring", "/v1/monitors/hiring/alarms"),
        ("../runs", "/v1/monitors/..%2Fruns/alarms"),
        ("a b?x=1#y", "/v1/monitors/a%20b%3Fx%3D1%23y/alarms"),
    ],
)
def test_a_name_cannot_lead_elsewhere(name: str, asked: str) -> None:
    assert path("monitors", name, "alarms") == asked


def test_an_empty_name_is_a_sentence() -> None:
    with pytest.raises(UsageError, match="The name is empty"):
        path("monitors", "")


@pytest.mark.parametrize("token", ["t\u00f6ken", "two\nlines"])
def test_a_token_that_cannot_be_one_is_refused_and_not_repeated(token: str) -> None:
    with pytest.raises(UsageError, match="BIASWATCH_TOKEN") as refused:
        GatewayClient("http://localhost", token)
    assert token not in str(refused.value)
