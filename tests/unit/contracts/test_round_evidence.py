"""The evidence of a round in few records: nothing is lost, none is too large, none is trusted."""

import zlib
from base64 import b64encode

import pytest

from shared.contracts import (
    Evidence,
    Increment,
    WatchedFeature,
    WatchedPair,
    evidence_in,
    increments_in,
    round_evidence,
)
from shared.contracts.comparison import Comparison
from shared.contracts.round_evidence import MOST_BYTES, MOST_COMPARISONS
from shared.errors import UndecodableError
from tests.support.records import make_evidence, make_increment, make_round_evidence

PAIR = WatchedPair(dimension="nation", a="Chile", b="Peru")


def of(count: int, words: int = 1) -> tuple[list[Increment], list[Evidence]]:
    increments, evidence = [], []
    for number in range(count):
        watched = WatchedFeature(extractor="x", feature=f"f{number}")
        comparison = Comparison(watched=watched, pair=PAIR)
        noise = " ".join(str(hash((number, word))) for word in range(words))
        increments.append(make_increment(comparison=comparison, missing=number))
        evidence.append(make_evidence(comparison=comparison, log_e=number / 7, reason=noise))
    return increments, evidence


def test_what_is_packed_is_what_is_read_in_its_order() -> None:
    increments, evidence = of(2 * MOST_COMPARISONS + 3)
    records = round_evidence(increments, evidence)
    assert [each.part for each in records] == [0, 1, 2]
    assert len({each.id for each in records}) == 3
    assert sum(each.comparisons for each in records) == len(evidence)
    assert list(increments_in(records)) == increments
    assert list(evidence_in(records)) == evidence
    assert all(each == type(each).decode(each.encode()) for each in records)


def test_many_comparisons_take_a_fraction_of_what_each_takes_alone() -> None:
    increments, evidence = of(MOST_COMPARISONS)
    [record] = round_evidence(increments, evidence)
    alone = sum(len(each.model_dump_json()) for each in (*increments, *evidence))
    assert len(record.encode()) < alone / 20


def test_a_part_that_is_large_is_divided_until_it_fits_a_message() -> None:
    increments, evidence = of(MOST_COMPARISONS, words=300)
    records = round_evidence(increments, evidence)
    assert [each.part for each in records] == list(range(len(records)))
    assert len(records) > 1
    assert max(len(each.encode()) for each in records) < 1.1 * MOST_BYTES
    assert list(evidence_in(records)) == evidence


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("not base64!", "is not compressed"),
        (b64encode(b"plain").decode(), "is not compressed"),
        (b64encode(zlib.compress(b"[]")).decode(), "holds no evidence"),
        (b64encode(zlib.compress(b" " * 70_000_000)).decode(), "more than a round can have"),
        (b64encode(zlib.compress(b"{}")[:-5]).decode(), "more than a round can have"),
    ],
)
def test_what_is_no_evidence_is_refused_in_a_sentence(text: str, said: str) -> None:
    record = make_round_evidence().model_copy(update={"evidence": text})
    with pytest.raises(UndecodableError, match=said):
        list(evidence_in([record]))
