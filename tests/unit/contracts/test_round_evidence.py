"""The evidence of a round in few records: nothing is lost, none is too large, none is trusted."""

import lzma
from base64 import b64encode

import pytest

from biaswatch.shared.contracts import (
    Bets,
    Change,
    Estimate,
    Evidence,
    GapTest,
    Increment,
    Reference,
    Stretch,
    WatchedFeature,
    WatchedPair,
)
from biaswatch.shared.contracts.comparison import Comparison
from biaswatch.shared.contracts.evidence_rows import (
    MAX_BYTES,
    MAX_COMPARISONS,
    evidence_fields,
    evidence_in,
    increments_in,
    round_evidence,
)
from biaswatch.shared.errors import UndecodableError
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
    increments, evidence = of(2 * MAX_COMPARISONS + 3)
    records = round_evidence(increments, evidence)
    assert [record.part for record in records] == [0, 1, 2]
    assert len({record.id for record in records}) == 3
    assert sum(record.comparisons for record in records) == len(evidence)
    assert list(increments_in(records)) == increments
    assert list(evidence_in(records)) == evidence
    assert all(record == type(record).decode(record.encode()) for record in records)


def test_many_comparisons_take_a_fraction_of_what_each_takes_alone() -> None:
    increments, evidence = of(MAX_COMPARISONS)
    [record] = round_evidence(increments, evidence)
    alone = sum(len(item.model_dump_json()) for item in (*increments, *evidence))
    assert len(record.encode()) < alone / 20


def test_a_part_that_is_large_is_divided_until_it_fits_a_message() -> None:
    increments, evidence = of(MAX_COMPARISONS, words=300)
    records = round_evidence(increments, evidence)
    assert [record.part for record in records] == list(range(len(records)))
    assert len(records) > 1
    assert max(len(record.encode()) for record in records) < 1.1 * MAX_BYTES
    assert list(evidence_in(records)) == evidence


def test_columns_keep_every_kind_of_field_and_what_only_some_have() -> None:
    bets = Bets(log_wealth=(-0.123456, 1.5), log_best=(0.0, 1e-6), starts=(3, 4))
    uneven = Bets(log_wealth=(0.1 + 0.2, 2 / 3, 4.0), log_best=(1.0, 2.0, 3.0), starts=(1, 2, 3))
    large = {"normalisers": (2**70, 0, -(2**60)), "units": (7,), "none": (0, 0, 0), "empty": ()}
    stretch = Stretch(since_round=2, before=large, attempt=3)
    some = {
        "change": Change(references=(Reference(value=1.0, allowed=0.5, rounds=5, bets=uneven),)),
        "test": GapTest(number=2, share=0.1, left=0.9, rounds=stretch, late=bets, since_round=1),
        "gap": Estimate(value=None, reason="no \u2028 gap"),
        "counts": large,
    }
    evidence = [make_evidence(), make_evidence(**some), make_evidence(more_units=3)]
    increments = [make_increment(), make_increment(counts=large), make_increment(outside=2)]
    records = round_evidence(increments, evidence)
    assert list(evidence_in(records)) == evidence
    assert list(increments_in(records)) == increments


def test_some_fields_of_some_comparisons_are_read_as_the_whole_is() -> None:
    increments, evidence = of(30)
    [record] = round_evidence(increments, evidence)
    wanted = {item.comparison_key for item in evidence[3:7]}
    expected = [(e.comparison_key, e.round, e.units, e.gap) for e in evidence[3:7]]
    names = {"round", "units", "gap", "test"}
    for records in ([record], [record, record]):
        result = list(evidence_fields(records, names, wanted))
        read = [(k, f["round"], f["units"], Estimate(**f["gap"])) for k, f in result]
        assert read == expected * len(records)
        assert all("counts" not in fields for _, fields in result)


def packed(columns: str) -> str:
    return b64encode(lzma.compress(columns.encode())).decode()


def cut_off(columns: str) -> str:
    return b64encode(lzma.compress(columns.encode())[:-5]).decode()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not base64!", "is not compressed"),
        (b64encode(b"plain").decode(), "is not compressed"),
        (cut_off("{}"), "is cut off"),
        (packed(" " * 70_000_000), "more than a round can have"),
        (packed("[]"), "columns cannot be read"),
        (packed("{}"), "is missing"),
        (packed('{"units": {"odd": 1}}'), "columns cannot be read"),
        (packed('{"units": {"each": [1, 2]}}'), "columns cannot be read"),
        (packed('{"units": {"each": 5}}'), "columns cannot be read"),
        (packed('{"counts": {"counts": {"a": [1e18, [[]]]}}}'), "columns cannot be read"),
        (packed('{"counts": {"counts": {"a": [9, [[8, 1, 1]]]}}}'), "columns cannot be read"),
        (packed('{"change": {"tuples": [[99999999], {"same": 1}]}}'), "columns cannot be read"),
        (packed('{"change": {"some": [[5], {"each": [1]}]}}'), "columns cannot be read"),
        (packed('{"unfinished'), "columns cannot be read"),
    ],
)
def test_what_is_no_evidence_is_refused_in_a_sentence(text: str, message: str) -> None:
    record = make_round_evidence().model_copy(update={"evidence": text})
    with pytest.raises(UndecodableError, match=message):
        list(evidence_in([record]))
    with pytest.raises(UndecodableError):
        list(evidence_fields([record], {"units", "counts", "change"}, set()))
