"""Studies with an instrument that errs on purpose, and people who know the truth, or nearly."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biaswatch.planted_labels.rows import LabelledOutcome, outcome
from biaswatch.shared.analysis.findings import AnalysisPlan, MeasuredResponse
from biaswatch.shared.analysis.labels import FindingCorrection, corrections
from biaswatch.shared.analysis.labels.answer_columns import Case, fold_answers
from biaswatch.shared.analysis.labels.drawing import label_sample
from biaswatch.shared.analysis.labels.read_columns import ReadAnswer, ReadColumns
from biaswatch.shared.contracts import Label, LabelDraw, LabelSample, Run, derived_id, person_id_of
from biaswatch.shared.requests.labels import SampleRequest
from tests.support.records import make_run

AT = datetime(2026, 3, 4, tzinfo=UTC)
GROUPS = ("a", "b")
Floats = NDArray[np.float64]
Instrument = Callable[[np.random.Generator, str, Floats], Floats]
"""Reads true values of a group, wrongly at times."""


@dataclass(frozen=True)
class LabelledStudy:
    """What is simulated: answers of two groups, their truth, and who labels how many."""

    truths: Callable[[np.random.Generator, str, int], Floats]
    instrument: Instrument
    bounds: tuple[float, float]
    draw: LabelDraw = LabelDraw.EVEN
    people: int = 1
    person_error: float = 0.0
    """How often a person says another value of the scale."""
    answers: int = 1000
    """Of each group."""


def rates(level: dict[str, float], wrong: dict[str, float], right: float = 0.8) -> LabelledStudy:
    """Return a study of yes and no: by group the true rate, and the share of wrong yeses."""

    def read(rng: np.random.Generator, group: str, truth: Floats) -> Floats:
        n = len(truth)
        yes = np.where(truth == 1, rng.random(n) < right, rng.random(n) < wrong[group])
        return yes.astype(np.float64)

    return LabelledStudy(
        lambda rng, group, n: (rng.random(n) < level[group]).astype(np.float64), read, (0.0, 1.0)
    )


def ratings(gap: float, shift: float) -> LabelledStudy:
    """Return a study of ratings from 1 to 5; the instrument rates b lower than it is."""

    def truths(rng: np.random.Generator, group: str, n: int) -> Floats:
        level = 3.2 + gap * (group == "b")
        return np.clip(np.round(level + rng.normal(size=n)), 1, 5)

    def read(rng: np.random.Generator, group: str, truth: Floats) -> Floats:
        off = 0.6 * rng.normal(size=len(truth)) - shift * (group == "b")
        return np.clip(np.round(truth + off), 1, 5)

    return LabelledStudy(truths, read, (1.0, 5.0))


def simulate(study: LabelledStudy, labels: int, seed: int, **plan: Any) -> FindingCorrection:
    """Return the correction of one study with so many labels of each group, as services make it."""
    return _simulated(study, labels, seed, **plan)[0]


def simulated_outcome(study: LabelledStudy, labels: int, seed: int) -> LabelledOutcome:
    """Return in which ways one study has a disparity: by readings, by labels, corrected, truly."""
    result, cases, truth, drawn = _simulated(study, labels, seed)
    by_group: dict[str, list[str]] = {group: [] for group in GROUPS}
    for id_, case in cases:
        by_group[case.groups["group"]].append(id_)
    true_values = {group: [truth[id_] for id_ in ids] for group, ids in by_group.items()}
    labelled = {
        group: [truth[id_] for id_ in ids if id_ in drawn] for group, ids in by_group.items()
    }
    return outcome(result.gaps[0], labelled, true_values, study.bounds)


def _simulated(
    study: LabelledStudy, labels: int, seed: int, **plan: Any
) -> tuple[FindingCorrection, list[Case], dict[str, float], set[str]]:
    """Return the correction of a study, its answers, what is true of each, and which were drawn."""
    rng = np.random.default_rng([seed, labels])
    run = make_run(nonce=f"{seed}-{labels}")
    cases: list[Case] = []
    truth: dict[str, float] = {}
    for group in GROUPS:
        true = study.truths(rng, group, study.answers)
        for number, (value, reading) in enumerate(
            zip(true, study.instrument(rng, group, true), strict=True)
        ):
            id_ = derived_id("response", run.id, group, number)
            truth[id_] = float(value)
            cases.append((id_, measured_case(group, number, float(reading))))
    sample = sample_of(study, run, cases, 2 * labels)
    ns = [
        label
        for person in range(study.people)
        for label in label_values(study, sample, truth, f"person {person}", rng)
    ]
    [result] = corrections(fold_answers(cases, [sample], ns), [sample], ns, AnalysisPlan(**plan))
    return result, cases, truth, {item.response_id for item in sample.drawn}


def measured_case(group: str, number: int, reading: float) -> MeasuredResponse:
    return MeasuredResponse(
        target="t", scaffold="direct", unit=f"{group}{number}", set=None, groups={"group": group},
        extractor="judge", values={"x": reading}, why_missing=None,
    )  # fmt: skip


def sample_of(study: LabelledStudy, run: Run, cases: list[Case], wanted: int) -> LabelSample:
    readings = [
        ReadAnswer(id_, case.target, case.scaffold, case.groups, case.values["x"] or 0.0)
        for id_, case in cases
    ]
    low, high = study.bounds
    request = SampleRequest(feature="x", wanted=wanted, draw=study.draw, low=low, high=high)
    number = ("judge", "x", "group")
    return label_sample(run, number, ReadColumns(readings, BytesIO()), request, None, AT)


def label_values(
    study: LabelledStudy,
    sample: LabelSample,
    truth: dict[str, float],
    person: str,
    rng: np.random.Generator,
) -> list[Label]:
    scale = np.arange(study.bounds[0], study.bounds[1] + 1)
    return [
        Label(
            at=AT, run_id=sample.run_id, response_id=item.response_id, unit_id="u",
            extractor="judge", feature="x",
            value=float(rng.choice(scale)) if rng.random() < study.person_error
            else truth[item.response_id],
            person=person, person_id=person_id_of(person), instructions=sample.instructions,
            sample_id=sample.id, probability=item.probability,
        )
        for item in sample.drawn
    ]  # fmt: skip
