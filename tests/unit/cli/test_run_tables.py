"""The measured answers of a run as a table: names of fields, rows, domains, and what is missing."""

import math
from collections.abc import AsyncIterator

import httpx2
import pytest

from biaswatch.diagnosis.cases import strongest_cases
from biaswatch.diagnosis.diagnosis import diagnose_rows, run_columns
from biaswatch.diagnosis.sources import measured_input
from biaswatch.local.client import GatewayClient
from biaswatch.readers.run_observations import (
    RunColumns,
    measured_features,
    run_observations,
    run_warnings,
)
from biaswatch.readers.run_tables import RunTable, full_name, short_names
from biaswatch.shared.contracts import Claim
from biaswatch.shared.contracts.derived_features import Scale
from biaswatch.shared.errors import TransientError, UsageError
from biaswatch.shared.requests.diagnoses import DiagnoseRequest
from biaswatch.shared.requests.exports import (
    AnswerMeasurements,
    DeclaredAnalysis,
    Measurement,
    PinnedExtractor,
)

DECLARED = DeclaredAnalysis(
    run_id="a" * 32, suite="s", claim=Claim.POPULATION, features=[], selected_at_least={},
    extractors=[
        PinnedExtractor(name="length", version="1", features=["words", "characters"]),
        PinnedExtractor(name="words", version="1", features=["words"]),
    ],
    targets=["t"], scaffolds=["direct"], answers=4, alpha=None, tolerance=None,
)  # fmt: skip


def answer(number: int, **fields: object) -> AnswerMeasurements:
    given = {
        "key": f"k{number}", "target": "t", "scaffold": "direct", "repeat": 0, "unit": f"u{number}",
        "set": None, "groups": {"race": "ab"[number % 2]}, "facts": {},
        "measured": {"length": Measurement(values={"words": float(number)})},
    }  # fmt: skip
    return AnswerMeasurements.model_validate({**given, **fields})


def table_of(*answers: AnswerMeasurements, **declared: object) -> RunTable:
    table = RunTable(DECLARED.model_copy(update=declared))
    for item in answers:
        table.add(item)
    return table


def test_a_short_name_means_a_group_before_a_fact_and_nothing_where_it_is_not_clear() -> None:
    names = ["key", "groups.age", "facts.age", "facts.key", "length.words", "words.words", "x.y"]
    assert short_names(names) == {
        "key": "key", "groups.age": "age", "facts.age": "facts.age", "facts.key": "facts.key",
        "length.words": "length.words", "words.words": "words.words", "x.y": "y",
    }  # fmt: skip
    assert full_name("age", names, kind="field", of="It") == "groups.age"
    assert full_name("facts.age", names, kind="field", of="It") == "facts.age"
    with pytest.raises(UsageError, match=r"several features 'words': write length.words or words"):
        full_name("words", names, kind="feature", of="It")
    with pytest.raises(UsageError, match=r"It has no field 'z'. Known fields: key, age"):
        full_name("z", names, kind="field", of="It")


def test_the_declared_scale_of_a_feature_is_its_name_and_can_be_asked_for() -> None:
    table = table_of(*map(answer, range(4)), features=["words"], scale={"words": Scale.LOG})
    rows = run_observations(table, RunColumns(features=["length.log(words)"]))
    whole = run_observations(table, RunColumns())
    assert whole.features[0] == rows.features[0] == "log(length.words)"
    assert rows.values[1:, 0].tolist() == pytest.approx([math.log(n) for n in (1, 2, 3)])
    assert math.isnan(rows.values[0, 0])
    assert any("geometric means" in line for line in run_warnings(table, rows))


@pytest.mark.parametrize(
    ("name", "scale", "features"),
    [
        ("length.words", "log", ["characters", "log(length.words)", "log(words.words)"]),
        ("length.words", "rank", ["characters", "log(words.words)", "rank(length.words)"]),
        ("characters", "rank", ["log(length.words)", "log(words.words)", "rank(characters)"]),
    ],
)
def test_a_scale_replaces_the_one_that_the_suite_declares(
    name: str, scale: str, features: list[str]
) -> None:
    both = {"length": Measurement(values={"words": 3.0, "characters": 9.0})}
    table = table_of(*(answer(n, measured=both) for n in range(4)), scale={"words": Scale.LOG})
    request = DiagnoseRequest.model_validate({"scale": {name: scale}, "permutations": 0})
    result = diagnose_rows(measured_input(table, run_columns(request)), request)
    assert sorted({row["feature"] for row in result.comparisons}) == features


def test_cases_are_those_of_tables() -> None:
    table = table_of(*map(answer, range(4)), features=["words"])
    request = DiagnoseRequest.model_validate({"permutations": 0})
    result = diagnose_rows(measured_input(table, run_columns(request)), request)
    with pytest.raises(UsageError, match="the pages of a run show its answers"):
        strongest_cases(result)


def test_a_scale_of_no_feature_of_the_run_names_its_features() -> None:
    table = table_of(*map(answer, range(4)), features=["words"], scale={"words": Scale.LOG})
    request = DiagnoseRequest.model_validate({"scale": {"wordz": "log"}})
    with pytest.raises(UsageError, match=r"'wordz', which is not among the features: log\(len"):
        diagnose_rows(measured_input(table, run_columns(request)), request)


def test_values_and_labels_that_come_late_or_never_are_missing_in_their_rows() -> None:
    late = Measurement(values={"words": 7.0, "new": 1.0}, baseline={"words": 5.0})
    table = table_of(
        answer(0), answer(1, measured={"length": Measurement(missing="refused")}),
        answer(2, facts={"source": "s"}, measured={"words": late}), answer(3, set="p"),
    )  # fmt: skip
    rows = run_observations(table, RunColumns(groups=["source", "race"]))
    assert rows.features == ("characters", "length.words", "new", "words.words")
    assert [row[1] for row in rows.values.tolist()][:1] == [0.0]
    assert [math.isnan(row[1]) for row in rows.values.tolist()] == [False, True, True, False]
    assert rows.groups == {"source": [None, None, "s", None], "race": ["a", "b", "a", "b"]}
    assert rows.sets == [None, None, None, "p"]
    assert rows.baseline is not None
    assert rows.baseline[2].tolist()[3] == 5.0
    assert "1 of 4 answers have no values by length: 1 refused." in run_warnings(table, rows)


def test_a_declared_feature_includes_those_by_turn_as_in_the_findings_of_the_run() -> None:
    values = {"words": 2.0, "words@1": 1.0, "words@2": 3.0, "words@drift": 2.0, "other": 9.0}
    talk = answer(0, measured={"length": Measurement(values=values)})
    assert measured_features(table_of(talk, features=["words"]), []) == [
        "length.words", "length.words@1", "length.words@2", "length.words@drift", "words.words",
    ]  # fmt: skip
    assert measured_features(table_of(talk, features=["words@drift"]), []) == ["length.words@drift"]


def test_gaps_by_context_that_are_left_out_are_named() -> None:
    table = table_of(answer(0), answer(1), gaps_by=["context"])
    warning, *_ = run_warnings(table, run_observations(table, RunColumns()))
    assert "--config domain=context` " in warning.replace("`.", "` ")
    assert f"biaswatch show {'a' * 12} --all" in warning


def test_targets_and_scaffolds_that_differ_are_domains_and_some_can_be_taken() -> None:
    table = table_of(
        answer(0), answer(1, target="u"), answer(2, scaffold="chain"), answer(3, target="u")
    )
    assert run_observations(table, RunColumns()).domains == [
        "t, direct", "u, direct", "t, chain", "u, direct",
    ]  # fmt: skip
    some = run_observations(table, RunColumns(targets=["u"]))
    assert (some.rows, some.domains, some.units) == (2, None, ["u1", "u3"])
    by_field = run_observations(table, RunColumns(targets=["u"], domains=["race"]))
    assert by_field.domains == ["b", "b"]


def test_without_any_group_the_sentence_names_the_fields() -> None:
    table = table_of(answer(0, groups={}, facts={"source": "s"}))
    with pytest.raises(UsageError, match="--group: key, target, scaffold, repeat, unit, set, sou"):
        run_observations(table, RunColumns())


class _Lines(httpx2.AsyncByteStream):
    """A body of lines, which breaks after them where it is told to."""

    def __init__(self, first: int, last: int, breaks: bool) -> None:
        self._lines, self._breaks = range(first, last), breaks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for number in self._lines:
            yield answer(number).model_dump_json().encode() + b"\n"
        if self._breaks:
            raise httpx2.ReadError("the connection broke")


def client_of(broken_at: list[int], end: int) -> GatewayClient:
    """Return a client of a gateway whose connection breaks at these answers."""

    def reply(request: httpx2.Request) -> httpx2.Response:
        offset = int(request.url.params["offset"])
        last = broken_at.pop(0) if broken_at else end
        return httpx2.Response(200, stream=_Lines(offset, last, breaks=last < end))

    client = GatewayClient("http://gateway")
    client._requests._http = httpx2.AsyncClient(
        base_url="http://gateway", transport=httpx2.MockTransport(reply)
    )
    return client


async def test_a_broken_connection_is_taken_up_where_it_broke() -> None:
    keys = [measurement.key async for measurement in client_of([2, 5], 8).measurements("r")]
    assert keys == [f"k{number}" for number in range(8)]


async def test_a_gateway_that_sends_nothing_more_is_given_up() -> None:
    with pytest.raises(TransientError, match="does not answer"):
        assert [measurement async for measurement in client_of([2, 2, 2, 2], 8).measurements("r")]
