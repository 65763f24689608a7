"""Which addresses are public, however they are written; when to ask a server again."""

import pytest

from biaswatch.shared.backoff import retry_after_s
from biaswatch.shared.network.outgoing import is_named, is_public


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("0.0.0.0", False),  # noqa: S104
        ("10.1.2.3", False),
        ("100.64.0.1", False),
        ("127.0.0.1", False),
        ("169.254.169.254", False),
        ("172.16.0.1", False),
        ("192.0.0.9", False),
        ("192.0.0.192", False),
        ("192.168.1.1", False),
        ("224.0.0.1", False),
        ("2606:4700:4700::1111", True),
        ("::", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fec0::1", False),
        ("fd00::1", False),
        ("ff0e::1", False),
        ("::ffff:8.8.8.8", True),  # IPv4-mapped
        ("::ffff:10.0.0.1", False),
        ("::ffff:127.0.0.1", False),
        ("::8.8.8.8", True),  # IPv4-compatible
        ("::127.0.0.1", False),
        ("2002:808:808::1", True),  # 6to4
        ("2002:7f00:1::", False),
        ("2002:a00:1::1", False),
        ("64:ff9b::8.8.8.8", True),  # NAT64
        ("64:ff9b::127.0.0.1", False),
        ("64:ff9b::169.254.169.254", False),
        ("64:ff9b:1::8.8.8.8", True),
        ("64:ff9b:1::169.254.169.254", False),
        ("64:ff9b:1:808:8:800::", False),  # embedded where only its network knows
        ("2001:0:102:304::f7f7:f7f7", False),  # Teredo
        ("168.63.129.16", False),  # clouds' own servers
        ("100.100.100.200", False),
        ("fd00:ec2::254", False),
        ("192.88.99.1", False),
        ("255.255.255.255", False),
        ("2002:a83f:8110::1", False),
        ("2606:4700::200:5efe:10.0.0.1", False),  # ISATAP
        ("2606:4700::5efe:169.254.169.254", False),
        ("64:ff9b:2::1", False),
        ("100::1", False),
        ("4000::1", False),
        ("::ffff:0:127.0.0.1", False),
    ],
)
def test_an_address_that_leads_to_another_is_as_public_as_that(address: str, public: bool) -> None:
    assert is_public(address) is public


@pytest.mark.parametrize(
    ("host", "named"),
    [
        ("llm.internal", True),
        ("LLM.internal", True),
        ("llm.internal.evil.example", False),
        ("a.b.models.svc", True),
        ("models.svc", False),
        ("evilmodels.svc", False),
        ("127.0.0.1", False),
    ],
)
def test_a_host_is_named_in_full_or_by_what_it_lies_below(host: str, named: bool) -> None:
    assert is_named(host, ["llm.internal", "*.models.svc"]) is named


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        (
            {
                "retry-after": "Fri, 02 Jan 2026 03:04:35 GMT",
                "date": "Fri, 02 Jan 2026 03:04:05 GMT",
            },
            30,
        ),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "-1"}, None),
        ({}, None),
    ],
)
def test_when_to_ask_again_is_read_however_it_is_said(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after_s(headers) == seconds
