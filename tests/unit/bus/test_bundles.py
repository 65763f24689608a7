"""A message of several records is those records again, and nothing else is taken for one."""

import pytest

from biaswatch.shared.bus.bundles import (
    MOST_BYTES,
    MOST_RECORDS,
    RECORDS,
    Bundle,
    publication_of,
    records_in,
)
from tests.support.records import make_features, make_response


def bundle_of(*data: bytes, publications: tuple[int, ...] = ()) -> Bundle:
    bundle = Bundle()
    for number, payload in enumerate(data):
        bundle.add(f"id{number}", payload, publications[number] if publications else 0)
    return bundle


def test_the_records_of_a_bundle_are_read_as_they_were_written() -> None:
    texts = ("line\nbreak", "carriage\rreturn", "\u2028 and \u2029", "\x00", "")
    records = [make_response(n, text=text).encode() for n, text in enumerate(texts)]
    bundle = bundle_of(*records)
    assert records_in(bundle.data(), bundle.headers()) == records


def test_a_record_alone_is_the_message_of_before() -> None:
    data = make_features(1).encode()
    bundle = bundle_of(data, publications=(3,))
    assert bundle.data() == data
    assert bundle.headers() == {"Nats-Msg-Id": "id0/3"}
    assert records_in(b'{\n "a": 1\n}', {"Nats-Msg-Id": "id0/3"}) == (b'{\n "a": 1\n}',)


def test_the_same_records_have_the_same_name_and_others_another() -> None:
    def name(*data: bytes, publications: tuple[int, ...] = ()) -> str:
        return bundle_of(*data, publications=publications).headers()["Nats-Msg-Id"]

    assert name(b"1", b"2") == name(b"1", b"2")
    assert name(b"1", b"2") != name(b"1", b"2", b"3")
    assert name(b"1", b"2", publications=(1, 2)) != name(b"1", b"2", publications=(2, 2))


def test_what_follows_from_a_bundle_goes_under_the_latest_of_its_publications() -> None:
    headers = bundle_of(b"1", b"2", b"3", publications=(4, 9, 2)).headers()
    assert publication_of(headers["Nats-Msg-Id"]) == 9
    assert publication_of("") == publication_of("a-name-of-somebody-else") == 0


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (b"{}\n{}", "3"),
        (b"{}\n{}", "1"),
        (b"{}\n{}", "two"),
        (b"{}\n{}", "02"),
        (b"\n".join([b"{}"] * (MOST_RECORDS + 1)), str(MOST_RECORDS + 1)),
        (b"\n".join([b"{}"] * 100_000), "100000"),
    ],
)
def test_a_message_that_is_not_what_it_says_is_one_piece(data: bytes, count: str) -> None:
    assert records_in(data, {RECORDS: count}) == (data,)


def test_a_bundle_has_so_many_records_and_bytes_and_no_more() -> None:
    many, large = bundle_of(*[b"{}"] * (MOST_RECORDS - 1)), bundle_of(b"x" * (MOST_BYTES - 100))
    assert many.takes(b"{}")
    many.add("last", b"{}", 0)
    assert not many.takes(b"{}")
    assert large.takes(b"{}")
    assert not large.takes(b"x" * 200)
