"""Assessments against loops, scipy and the published study's recorded ratings."""

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from biaswatch.shared.analysis.findings import (
    AnalysisPlan,
    FeatureAssessment,
    MeasuredResponse,
    assess,
    diagnose,
    folded,
)
from biaswatch.shared.contracts import Claim
from biaswatch.shared.stats.comparisons.compared_samples import implied_bounds
from biaswatch.shared.stats.comparisons.mean_interval import mean_interval
from tests.support.recorded import RecordedData

PLAN = AnalysisPlan(
    assessed=("rating",), measured={"rating": ("rating",)}, claim=Claim.BANK, permutations=200
)
RACES, GENDERS, CVS = ("asian", "black", "white"), ("female", "male"), ("strong", "fair", "weak")


def case(cv: str, groups: dict[str, str], value: float | None, **more: object) -> MeasuredResponse:
    given = {
        "target": "m", "scaffold": "direct", "unit": "-".join([cv, *groups.values()]), "set": cv,
        "groups": groups, "extractor": "rating",
        "values": {} if value is None else {"rating": value},
        "why_missing": None, "expected": "3",
    }  # fmt: skip
    return MeasuredResponse(**{**given, **more})  # type: ignore[arg-type]


def audit(seed: int, repeats: int = 6, black: float = -0.6) -> list[MeasuredResponse]:
    rng = np.random.default_rng(seed)
    cases = []
    for cv in CVS:
        for race in RACES:
            for gender in GENDERS:
                groups = {"race": race, "gender": gender}
                shift = black if race == "black" else 0.0
                cases += [
                    case(
                        cv, groups, 3 + shift + rng.normal(0, 0.3),
                        criteria={"skill": 2 + shift, "care": float(rng.integers(1, 5))},
                    )
                    for _ in range(repeats)
                ]  # fmt: skip
        cases += [case(cv, {}, 3 + rng.normal(0, 0.3)) for _ in range(repeats)]
    return cases


def one(cases: Sequence[MeasuredResponse], plan: AnalysisPlan = PLAN) -> FeatureAssessment:
    [result] = assess(cases, plan, np.random.default_rng(1))
    return result


def values(cases: Sequence[MeasuredResponse], **groups: str) -> list[float]:
    selected = [c for c in cases if groups.items() <= c.groups.items() and c.groups]
    return [c.values["rating"] or 0.0 for c in selected if "rating" in c.values]


def test_groups_are_compared_with_the_twins_that_name_nobody() -> None:
    cases = audit(1)
    result = {(d.dimension, d.group): d.gap for d in one(cases).deviations}
    assert set(result) == {("race", r) for r in RACES} | {("gender", g) for g in GENDERS}
    nobody = np.mean([c.values["rating"] or 0.0 for c in cases if not c.groups])
    expected = np.mean(values(cases, race="black")) - nobody
    gap = result["race", "black"]
    assert gap.value == pytest.approx(expected)
    assert gap.low is not None
    assert gap.high is not None
    assert gap.low < -0.6 < gap.high < 0


@pytest.mark.parametrize("claim", Claim)
@pytest.mark.parametrize("seed", range(4))
def test_errors_with_names_stand_against_those_on_the_anonymised_twins(
    claim: Claim, seed: int
) -> None:
    """Each set counts once, however unevenly its prompts were answered."""
    rng = np.random.default_rng(seed)
    cases = [
        case(
            cv,
            {"race": race} if race else {},
            None if rng.random() < 0.3 else float(rng.integers(1, 5)),
            unit=f"{cv}-{race}",
            expected=str(right),
        )
        for right, cv in enumerate((*CVS, "odd"), start=1)
        for race in ("", *RACES)
        if (cv, race) != ("odd", "")
        for _ in range(rng.integers(2, 8))
    ]
    by_unit: dict[tuple[str | None, bool], dict[str, list[float]]] = {}
    for item in cases:
        if item.values:
            units = by_unit.setdefault((item.set, bool(item.groups)), {})
            error = abs((item.values["rating"] or 0) - float(item.expected or 0))
            units.setdefault(item.unit, []).append(error)
    means = {key: np.mean([np.mean(v) for v in units.values()]) for key, units in by_unit.items()}
    plan = AnalysisPlan(assessed=("rating",), measured={"rating": ("rating",)}, claim=claim)
    against_anonymised = one(cases, plan).quality.against_anonymised
    assert against_anonymised is not None
    assert against_anonymised.identified == pytest.approx(np.mean([means[cv, True] for cv in CVS]))
    assert against_anonymised.anonymised == pytest.approx(np.mean([means[cv, False] for cv in CVS]))
    assert against_anonymised.gap.value == pytest.approx(
        against_anonymised.identified - against_anonymised.anonymised
    )
    assert against_anonymised.gap.low is not None
    named = [case for case in cases if case.groups]
    assert one(named, plan).quality.against_anonymised is None


def test_a_combination_s_interval_is_that_of_answers_within_its_prompts() -> None:
    cases = audit(2)
    cells = {tuple(c.groups.values()): c for c in one(cases).cells}
    assert len(cells) == 6
    cell = cells["female", "black"]
    by_prompt = [
        [c.values["rating"] for c in cases if c.unit == f"{cv}-black-female"] for cv in CVS
    ]
    variances = [float(np.var(v, ddof=1)) / len(v) / 9 for v in by_prompt]  # type: ignore[arg-type]
    dof = sum(variances) ** 2 / sum(v**2 / 5 for v in variances)
    mean = float(np.mean([np.mean(v) for v in by_prompt]))  # type: ignore[arg-type]
    reach = stats.t.ppf(0.975, dof) * np.sqrt(sum(variances))
    assert cell.mean.value == pytest.approx(mean)
    assert cell.mean.low == pytest.approx(mean - reach, rel=1e-4)
    assert (cell.answers, cell.missing) == (18, 0)
    population = one(cases, AnalysisPlan(assessed=("rating",), measured={"rating": ("rating",)}))
    wide = {tuple(c.groups.values()): c.mean for c in population.cells}["female", "black"]
    bounds = implied_bounds(np.array([c.values["rating"] for c in cases], dtype=np.float64))
    of_cvs = mean_interval(np.array([np.mean(v) for v in by_prompt]), bounds, 0.05)  # type: ignore[arg-type]
    assert (wide.low, wide.high) == pytest.approx((of_cvs.low, of_cvs.high))


def test_a_gap_shows_in_the_criterion_it_comes_from() -> None:
    scale = {"skill": (1.0, 4.0), "care": (1.0, 4.0)}
    plan = replace(PLAN, ranges=scale)
    result = {(c.criterion, c.a, c.b): c for c in one(audit(3), plan).criteria}
    assert len(result) == 2 * 4
    skill = result["skill", "black", "white"]
    assert skill.gap.value == pytest.approx(-0.6)
    assert skill.gap.reason is not None
    assert "always answered alike" in skill.gap.reason
    assert skill.p_adjusted is not None
    assert skill.p_adjusted < 0.05
    of_chance = [
        c.p_adjusted
        for c in result.values()
        if c.p_adjusted is not None and "always answered alike" not in (c.gap.reason or "")
    ]
    assert of_chance
    assert all(p > 0.05 for p in of_chance)


def test_a_gap_of_a_criterion_without_a_declared_range_is_not_known() -> None:
    result = {(c.criterion, c.a, c.b): c for c in one(audit(3)).criteria}
    skill = result["skill", "black", "white"]
    assert skill.p_adjusted == 1.0
    assert "declare the range" in (skill.gap.reason or "")


def test_assessments_use_the_declared_range() -> None:
    steady = [replace(item, values={"rating": 3.0}) for item in audit(1)]
    steady += [replace(steady[0], values={"rating": 40.0})]
    guessed, declared = (
        one(steady[:-1], PLAN),
        one(steady, replace(PLAN, ranges={"rating": (1.0, 9.0)})),
    )
    assert declared.missing == 1  # a value outside the range
    for before, after in zip(guessed.cells, declared.cells, strict=True):
        assert (before.mean.value, after.mean.value) == (3.0, 3.0)
        assert before.mean.high is not None
        assert after.mean.high is not None
        assert after.mean.high > before.mean.high > 3.0


def test_total_bias_stands_beside_what_exchanged_labels_give() -> None:
    biased, fair = one(audit(4)).total_bias, one(audit(5, black=0.0)).total_bias
    assert biased.value == pytest.approx(0.4, abs=0.15)  # (0.6 + 0.6 + 0) / 3
    assert biased.value is not None
    assert biased.value > 1.5 * (biased.null_median or 1)
    assert (biased.p_value or 1) < 0.1
    assert (fair.p_value or 0) > 0.05
    assert (fair.value or 1) < 0.2


@pytest.mark.parametrize("claim", Claim)
@pytest.mark.parametrize("sets", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_total_bias_agrees_with_the_gaps_of_the_findings(
    claim: Claim, sets: bool, seed: int
) -> None:
    """However uneven: prompts answered more often, answers missing, whole prompts missing."""
    rng = np.random.default_rng(seed)
    cases = [
        case(
            cv,
            {"race": race, "gender": gender},
            None if rng.random() < lost else float(level + rng.integers(0, 3)),
            set=cv if sets else None,
        )
        for level, cv in enumerate(CVS)
        for race in RACES
        for gender in GENDERS
        for lost in [rng.choice([0.0, 0.4, 1.0], p=[0.4, 0.4, 0.2])]
        for _ in range(rng.integers(2, 9))
    ]
    plan = AnalysisPlan(
        assessed=("rating",), measured={"rating": ("rating",)}, claim=claim, permutations=20
    )
    gaps = [
        [gap.gap.value for gap in finding.gaps]
        for finding in diagnose(folded(cases), plan, np.random.default_rng(1))
    ]
    expected = sum(float(np.mean(np.abs(np.array(values)))) for values in gaps)
    assert one(cases, plan).total_bias.value == pytest.approx(expected, abs=1e-12)


def test_what_is_not_there_has_a_reason_and_is_never_0() -> None:
    cases = [case("fair", {"race": "black"}, None, expected=None)]
    result = one(cases)
    assert (result.answers, result.missing) == (1, 1)
    assert result.total_bias.value is None
    assert result.total_bias.reason == "fewer than two groups"
    assert result.quality.reason == "the suite names no right answers that are numbers"
    assert result.consistency.reason == "no variant has two ratings"
    assert (result.deviations, result.cells, result.criteria) == ((), (), ())
    worded = one([case("fair", {}, 2.0, expected="three"), case("fair", {"race": "x"}, 2.0)])
    assert worded.quality.answers == 1
    uneven = [case("a", {"race": "x"}, 1.0), case("a", {"race": "y", "gender": "f"}, 1.0)]
    assert one(uneven).total_bias.reason == "some answers have no group in a dimension"


def test_the_recorded_study_comes_out(recorded_data: RecordedData) -> None:
    blocks = json.loads((recorded_data("data/cv") / "gpt4turbo.json").read_text())
    golden = json.loads((recorded_data("golden") / "cv_scaffolds.json").read_text())
    known = golden["gpt-4-turbo|one_shot"]
    right = {"set1": "3", "set2": "2", "set3": "2"}
    cases = []
    for block in blocks:
        for rated in block["rankings"] if block["pipeline"] == "one_shot" else ():
            cv, race, *rest = rated["cv_id"].split("_")
            groups = {} if race == "neutral" else {"race": race, "gender": rest[0]}
            value = float(rated["ranking"]) or None
            cases.append(case(cv, groups, value, unit=rated["cv_id"], expected=right[cv]))
    result = one(cases)
    assert result.total_bias.value == pytest.approx(known["total_bias"], abs=1e-12)
    assert result.quality.value == pytest.approx(known["quality"], abs=1e-9)
    assert result.missing == known["unparsed"]
    errors: dict[bool, list[float]] = {True: [], False: []}
    for item in cases:
        if (value := item.values.get("rating")) is not None:
            errors[bool(item.groups)].append(abs(value - float(item.expected or 0)))
    against = result.quality.against_anonymised
    assert against is not None
    assert against.identified == pytest.approx(np.mean(errors[True]), abs=1e-9)
    assert against.anonymised == pytest.approx(np.mean(errors[False]), abs=1e-9)
    by_group = {d.group: d.gap.value for d in result.deviations}
    black = [c.values["rating"] for c in cases if c.groups.get("race") == "black" and c.values]
    expected = float(np.mean(black)) - known["neutral"]  # type: ignore[arg-type]
    assert by_group["black"] == pytest.approx(expected, abs=1e-9)
