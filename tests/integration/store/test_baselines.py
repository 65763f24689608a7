"""Baselines are kept once for each text and version, on both databases."""

from datetime import UTC, datetime

from biaswatch.services.extractor.domain import FunctionExtractor
from biaswatch.services.extractor.handlers.measuring import MeasureResponses
from biaswatch.shared.store import Store
from tests.support.records import make_probe, make_response

AT = datetime(2026, 1, 2, tzinfo=UTC)


def test_what_was_kept_first_stays(store: Store) -> None:
    store.baselines.keep("words", "1", {"a text": {"words": 2.0}, "none": {}}, AT)
    store.baselines.keep("words", "1", {"a text": {"words": 3.0}}, AT)
    assert store.baselines.find("words", "1", ["a text", "none", "new"]) == {
        "a text": {"words": 2.0},
        "none": {},
    }
    assert store.baselines.find("words", "2", ["a text"]) == {}


def test_a_baseline_text_is_measured_once_however_many_probes_share_it(store: Store) -> None:
    read: list[str] = []

    def measure(text: str) -> dict[str, float | None]:
        read.append(text)
        return {"x": float(len(text))}

    toy = FunctionExtractor("toy", "1", ("x",), "a toy", measure)
    handle = MeasureResponses({"toy": toy}, store.baselines, now=lambda: AT)
    batch = [
        make_response(n, text="answer", probe=make_probe(n, baseline="the base", measure=("toy",)))
        for n in range(4)
    ]
    first, again = handle(batch), handle(batch)
    assert read.count("the base") == 1
    assert [dict(item.baseline) for item in first] == [{"x": 8.0}] * 4
    assert [dict(item.values) for item in again] == [{"x": 6.0}] * 4
    assert [dict(item.baseline) for item in again] == [{"x": 8.0}] * 4
    assert {item.instrument for item in first} == {"a toy"}
