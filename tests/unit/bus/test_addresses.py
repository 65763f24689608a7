"""`NATS_URL` names one server or several, with what each of them needs."""

import pytest

from biaswatch.shared.bus.jetstream.addresses import server_addresses
from biaswatch.shared.errors import ConfigurationError


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("nats://a:1", ["nats://a:1"]),
        ("a", ["nats://a:4222"]),
        ("nats://a:1,nats://b:2", ["nats://a:1", "nats://b:2"]),
        (" nats://a:1 , nats://b:2, ", ["nats://a:1", "nats://b:2"]),
        ("a:1,b", ["nats://a:1", "nats://b:4222"]),
        ("tls://a:1,b:2,c", ["tls://a:1", "tls://b:2", "tls://c:4222"]),
        ("nats://user:pw@a:1,b:2", ["nats://user:pw@a:1", "nats://user:pw@b:2"]),
        ("nats://u:p@a:1,nats://v:q@b:2", ["nats://u:p@a:1", "nats://v:q@b:2"]),
        ("token@a:1,b:2", ["nats://token@a:1", "nats://token@b:2"]),
        ("nats://[::1]:1,[fd00::2]", ["nats://[::1]:1", "nats://[fd00::2]:4222"]),
        ("wss://a/bus,wss://b:1", ["wss://a:443/bus", "wss://b:1"]),
    ],
)
def test_each_server_is_read(text: str, urls: list[str]) -> None:
    assert [address.url for address in server_addresses(text)] == urls


def test_addresses_are_shown_without_credentials() -> None:
    shown = ", ".join(map(str, server_addresses("nats://user:secret@a:1,[::1]:2")))
    assert shown == "a:1, [::1]:2"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "names no server"),
        (" , ", "names no server"),
        ("nats://user:secret@a:x,b:2", "number 1 in NATS_URL is not that of a NATS server"),
        ("a:1,nats://b:99999", "number 2 in NATS_URL is not that of a NATS server"),
        ("http://a:1", "number 1 in NATS_URL is not that of a NATS server"),
        ("nats://", "number 1 in NATS_URL is not that of a NATS server"),
        ("nats://[::1:4222", "number 1 in NATS_URL is not that of a NATS server"),
        ("ws://a,nats://b", "mixes WebSocket addresses"),
    ],
)
def test_what_is_no_address_is_refused_without_repeating_it(text: str, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why) as refusal:
        server_addresses(text)
    assert "secret" not in str(refusal.value)
