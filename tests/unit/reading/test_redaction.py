"""Redaction: what reaches a person is found, what only looks like it stays, in linear time."""

import pytest

from biaswatch.shared.parsing.redaction import BUILT_IN, own_pattern, redact

EVERY = list(BUILT_IN.values())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write to anna.b+x@mail.example.org, please.", "Write to [email], please."),
        ("<anna@example.org>", "<[email]>"),
        ("It is anna@example.org. Thanks.", "It is [email]. Thanks."),
        ("call +49 (30) 1234-5678 or 030/1234567!", "call [phone] or [phone]!"),
        ("card 4111 1111 1111 1111.", "card [card]."),
        ("to GB82 WEST 1234 5698 7654 32 today", "to [iban] today"),
        ("from 192.168.10.255, twice 10.0.0.1", "from [ip_address], twice [ip_address]"),
        ("anna@example.org ben@example.org", "[email] [email]"),
        ("Привет, пишите на иван@example.org", "Привет, пишите на [email]"),
    ],
)
def test_what_reaches_a_person_becomes_a_mark(text: str, expected: str) -> None:
    assert redact(text, EVERY).text == expected


@pytest.mark.parametrize(
    "text",
    [
        "On 2026-01-02 03:04:05 there were 1,234,567 of them.",
        "card 4111 1111 1111 1112 has a wrong digit",
        "version 1.2.3.4.5, and 300.1.1.1",
        "anna@localhost, a@b, @handle and x @ y.org",
        "GB82 WEST 1234 5698 7654 33",
        "0123456 is too short, 0 is a number",
        "",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    result = redact(text, EVERY)
    assert (result.text, sum(result.counts.values())) == (text, 0)


def test_what_was_found_is_counted_and_a_second_look_finds_nothing() -> None:
    result = redact("anna@example.org, ben@example.org, 10.0.0.1", EVERY)
    assert dict(result.counts) == {"email": 2, "ip_address": 1}
    assert not redact(result.text, EVERY).counts


def test_a_pattern_of_ones_own_is_marked_by_its_name() -> None:
    order = own_pattern("order", r"\bORD-\d{4,8}\b")
    assert redact("about ORD-12345?", [order]).text == "about [order]?"


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("(", "not a regular expression"),
        (r"\d+", "no bound"),
        (r"a*b", "no bound"),
        (r"x{1,}", "no bound"),
        (r"x{1,9999}", "no bound"),
        (r"(?:a{1,20}){1,20}b", "too long"),
        (r".{1,100}a.{1,100}b.{1,100}c", "too long"),
        (r"(?:a|ab){20}c", "too long"),
        (r"(a)\1", "refers back"),
        (r"a?", "empty text"),
    ],
)
def test_a_pattern_that_could_take_too_long_is_refused(written: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        own_pattern("bad", written)
