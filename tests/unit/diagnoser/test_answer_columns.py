"""Answers as columns: what labels make of a run is the same however its cases are kept."""

from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from biaswatch.shared.analysis.findings import AnalysisPlan, MeasuredResponse
from biaswatch.shared.analysis.findings.observations import coded
from biaswatch.shared.analysis.labels import corrections
from biaswatch.shared.analysis.labels.answer_columns import Case, fold_answers
from biaswatch.shared.analysis.labels.drawing import label_sample
from biaswatch.shared.analysis.labels.labelled_rows import labelled_rows, labels_by_answer
from biaswatch.shared.analysis.labels.read_columns import ReadAnswer, ReadColumns
from biaswatch.shared.analysis.labels.running_gaps import round_counts
from biaswatch.shared.contracts import Label, LabelDraw, LabelSample, derived_id, person_id_of
from biaswatch.shared.requests.labels import SampleRequest
from biaswatch.shared.stats.labels.corrected_values import corrected_values
from tests.support.drawn_labels import every_drawn
from tests.support.labelled_studies import AT
from tests.support.records import make_run

ANSWERS = 400
BOUNDS = (1.0, 5.0)
NO_VALUES = np.empty(0)


def random_window(seed: int) -> list[Case]:
    """Return answers of two instruments to some users, some without group, reading or range."""
    rng = np.random.default_rng(seed)
    users = int(rng.choice([30, 200, 2000]))
    cases: list[Case] = []
    for number in range(ANSWERS):
        group = int(rng.integers(4))
        groups = {"gender": f"g{group}"} if group < 3 else {}
        if seed % 2 and rng.random() < 0.7:
            groups["age"] = str(rng.choice(["old", "young"]))
        value = float(np.clip(rng.normal(3 + 0.2 * group), *BOUNDS))
        unit = f"user {rng.integers(users)}"
        for extractor in ("judge", "words"):
            read = None if rng.random() < 0.05 else 9.0 if rng.random() < 0.03 else value
            case = MeasuredResponse(
                target="t", scaffold="direct", unit=unit, set=None, groups=groups,
                extractor=extractor, values={"x": read}, why_missing=None,
            )  # fmt: skip
            cases.append((derived_id("response", seed, number), case))
    return cases


def labelled(cases: Sequence[Case], seed: int) -> tuple[LabelSample, list[Label]]:
    """Return a sample of what the judge read, and what a person says of most of it."""
    rng, run = np.random.default_rng([seed, 1]), make_run(nonce=f"{seed}")
    read = {
        id_: value
        for id_, case in cases
        if case.extractor == "judge" and (value := case.values["x"]) is not None and value <= 5
    }
    answers = [
        ReadAnswer(id_, case.target, case.scaffold, case.groups, read[id_])
        for id_, case in cases
        if case.extractor == "judge" and id_ in read
    ]
    draw = LabelDraw.UNCERTAINTY if seed % 3 == 1 else LabelDraw.EVEN
    request = SampleRequest(feature="x", wanted=180, draw=draw, low=BOUNDS[0], high=BOUNDS[1])
    number = ("judge", "x", "gender")
    sample = label_sample(run, number, ReadColumns(answers, BytesIO()), request, None, AT)
    given = [
        Label(
            at=AT, run_id=run.id, response_id=item.response_id, unit_id="u", extractor="judge",
            feature="x", value=float(np.clip(read[item.response_id] + rng.normal(), *BOUNDS)),
            person="p", person_id=person_id_of("p"), instructions="i", sample_id=sample.id,
            probability=item.probability,
        )
        for item in sample.drawn
        if rng.random() < 0.9
    ]  # fmt: skip
    return sample, given


@pytest.mark.parametrize("seed", range(6))
def test_hashes_of_users_give_the_numbers_that_their_names_give(seed: int) -> None:
    cases = random_window(seed)
    sample, given = labelled(cases, seed)
    by_name, by_hash = (
        fold_answers(iter(cases), [sample], given, many_units=many) for many in (False, True)
    )
    result = corrections(by_name, [sample], given, AnalysisPlan())
    assert any(gap.corrected.value is not None for item in result for gap in item.gaps)
    assert corrections(by_hash, [sample], given, AnalysisPlan()) == result


@pytest.mark.parametrize("together", [5, 64])
@pytest.mark.parametrize("seed", range(4))
def test_however_many_rows_are_worked_on_together_the_numbers_are_the_same(
    seed: int, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = random_window(seed)
    sample, given = labelled(cases, seed)
    pair = SimpleNamespace(a="g0", b="g1", dimension="gender")
    watched: Any = SimpleNamespace(pair=pair, key="k")

    def found() -> Any:
        [answers] = fold_answers(iter(cases), [sample], given, many_units=True)
        counts = round_counts([answers], sample, given, watched)
        return counts, corrections([answers.without_ids()], [sample], given, AnalysisPlan())

    whole = found()
    monkeypatch.setattr("biaswatch.shared.stats.samples.CHUNK_VALUES", together)
    monkeypatch.setattr("biaswatch.shared.analysis.findings.units.CHUNK_VALUES", together)
    assert found() == whole


@pytest.mark.parametrize("seed", range(6))
def test_a_probability_by_group_is_that_of_each_of_its_answers(seed: int) -> None:
    cases = random_window(seed)
    sample, given = labelled(cases, seed)
    [answers] = fold_answers(cases, [sample], given)
    rows = labelled_rows(answers, sample, labels_by_answer(given))
    probabilities = rows.drawn.probabilities_of(slice(0, ANSWERS))
    labels = np.full(ANSWERS, np.nan)
    labels[rows.drawn.rows] = rows.drawn.labels
    possible = rows.present & np.isfinite(probabilities)
    np.testing.assert_array_equal(rows.drawn.possible(), np.isfinite(probabilities))
    by_stratum, by_answer = (
        corrected_values(rows.readings[possible], drawn, BOUNDS)
        for drawn in (
            rows.drawn.subset(possible),
            every_drawn(labels[possible], probabilities[possible]),
        )
    )
    np.testing.assert_array_equal(by_stratum.values, by_answer.values)
    assert replace(by_stratum, values=NO_VALUES) == replace(by_answer, values=NO_VALUES)


def test_only_what_was_sampled_is_folded_and_a_row_is_an_answer() -> None:
    cases = random_window(0)
    sample, given = labelled(cases, 0)
    [answers] = fold_answers(cases, [sample], given)
    judged = [(id_, case) for id_, case in cases if case.extractor == "judge"]
    assert answers.extractor == "judge"
    values = np.array([case.values["x"] for _, case in judged], dtype=np.float64)
    np.testing.assert_array_equal(answers.readings["x"], values)
    assert [*answers.groups["gender"]] == [case.groups.get("gender") for _, case in judged]
    assert [*answers.units] == [case.unit for _, case in judged]
    places = {id_: row for row, (id_, _) in enumerate(judged)}
    assert answers.row_of == {item.response_id: places[item.response_id] for item in sample.drawn}
    [hashed] = fold_answers(cases, [sample], given, many_units=True)
    codes = coded(hashed.units)[0]
    assert len(set(codes.tolist())) == len({case.unit for _, case in judged})


def test_answers_that_were_not_drawn_count_in_the_pairs_of_a_round_in_any_order() -> None:
    cases = random_window(3)
    sample, given = labelled(cases, 3)
    pair = SimpleNamespace(a="g0", b="g1", dimension="gender")
    watched: Any = SimpleNamespace(pair=pair, key="k")
    one, other = (
        round_counts(fold_answers(some, [sample], given), sample, given, watched)
        for some in (cases, cases[::-1])
    )
    assert sum(one) > 20
    assert one == other
    nobody: Any = SimpleNamespace(pair=SimpleNamespace(**{**vars(pair), "b": "g9"}), key="k")
    assert round_counts(fold_answers(cases, [sample], given), sample, given, nobody) == ()


def test_a_group_that_comes_late_is_known_of_those_before_to_be_none() -> None:
    cases = random_window(0)
    sample, given = labelled(cases, 0)
    last, case = cases[-2]
    assert case.extractor == "judge"
    cases[-2] = (last, replace(case, groups={**case.groups, "language": "de"}))
    [answers] = fold_answers(cases, [sample], given)
    assert [*answers.groups["language"]] == [None] * (ANSWERS - 1) + ["de"]
