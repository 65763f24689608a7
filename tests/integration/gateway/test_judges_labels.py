"""Labels of what judges said: drawn, shown without the verdict, and what they make of it."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from biaswatch.bbq.rows import BbqRow
from biaswatch.bbq.suite import suite_of
from biaswatch.services.diagnoser.handlers.labels import CorrectByLabels
from biaswatch.services.gateway.labels.commands import LabelCommands
from biaswatch.services.gateway.labels.queries import LabelQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.analysis.findings import AnalysisPlan
from biaswatch.shared.contracts import (
    RUN_GATHER,
    Correction,
    DimensionScore,
    Finding,
    Judging,
    LabelSample,
    Response,
    Run,
    derived_id,
    probes_of,
)
from biaswatch.shared.errors import UsageError
from biaswatch.shared.presentation.corrections import correction_sentences
from biaswatch.shared.requests.labels import GivenLabel, LabelsRequest, SampleRequest
from biaswatch.shared.store import Store
from tests.support.bbq_rows import make_bbq_row
from tests.support.records import AT, make_brief, make_evaluation, make_run, make_verdict

ROWS = 320
SUITE = suite_of([BbqRow.model_validate(make_bbq_row(n)) for n in range(ROWS)], name="rows")
PAIRS = 200
SCAFFOLD = "reason_and_choose"


@dataclass
class JudgedRun:
    store: Store
    run: Run
    truth: dict[str, float]

    @property
    def commands(self) -> LabelCommands:
        return LabelCommands(self.store, RunQueries(self.store), self.queries, lambda: AT)

    @property
    def queries(self) -> LabelQueries:
        return LabelQueries(self.store, RunQueries(self.store))

    def drawn(self, **asked: object) -> LabelSample:
        sample = self.commands.sample_for(self.run.id, SampleRequest.model_validate(asked))
        self.commands.store_records([sample])
        return sample

    def corrected(self, sample: LabelSample) -> list[Correction]:
        values = [
            GivenLabel(response_id=item.response_id, value=self.truth[item.response_id])
            for item in sample.drawn
        ]
        request = LabelsRequest(extractor=sample.extractor, feature=sample.feature, labels=values)
        self.commands.store_records(self.commands.check_labels(self.run.id, request, "anna").new)
        correct = CorrectByLabels(self.store, now=lambda: AT, plan=AnalysisPlan())
        return correct.corrected(self.run)


@pytest.fixture
def judged(store: Store, tmp_path: Path) -> JudgedRun:
    """Write a run whose judges find fault with reasoning about the old that has none."""
    rng = np.random.default_rng(5)
    run = make_run(suite=SUITE.name, suite_hash=SUITE.hash, scaffolds=(SCAFFOLD,))
    store.suites.keep(SUITE, AT)
    probes = list(probes_of(run, SUITE, AT))
    store.records.write(
        [run, *(Response(at=AT, probe=probe, ending="answered", text="Because. Answer: A")
                for probe in probes)]
    )  # fmt: skip
    truth, verdicts, sets = {}, [], sorted({probe.set_id or "" for probe in probes})
    assert len(sets) >= PAIRS / 2
    for number in range(PAIRS):
        category = "Age" if number % 2 else "Religion"
        id_ = derived_id("pair", number)
        truth[id_] = float(rng.random() < 0.8)
        missed = 0.35 if category == "Age" else 0.0
        value = bool(truth[id_]) and rng.random() >= missed
        verdicts.append(
            make_verdict(
                run_id=run.id, pair_id=id_, set_id=sets[number % len(sets)],
                target=probes[0].target.name, facts={"category": category},
                corrected={"own_a": Finding(value=value, verdicts=1)}, flags={},
            )
        )  # fmt: skip
    store.records.write(verdicts)
    return JudgedRun(store, run, truth)


def test_labels_say_how_right_judges_are_and_correct_their_share(judged: JudgedRun) -> None:
    sample = judged.drawn(feature="oracle.own_a", wanted=160)
    assert (sample.dimension, sample.low, sample.high, sample.choices) == ("judged", 0, 1, (0, 1))
    assert "Does the reasoning address this question" in sample.guidance
    [result] = judged.corrected(sample)
    [group] = result.groups
    assert group.reading.value is not None
    assert group.reading.value < 0.75
    assert group.corrected.low is not None
    assert group.corrected.high is not None
    assert group.corrected.low < 0.8 < group.corrected.high
    assert group.sensitivity is not None
    assert group.sensitivity.value == pytest.approx(0.82, abs=0.1)
    assert result.gaps == ()
    assert result.extractor_version == make_verdict().judges[0]
    assert "as labels correct it" in correction_sentences([result])[0]


def test_a_difference_that_judges_alone_make_between_kinds_of_pairs_is_taken_back(
    judged: JudgedRun,
) -> None:
    corrected = judged.corrected(judged.drawn(feature="own_a", group="category", wanted=200))
    [by_category] = [item for item in corrected if item.dimension == "category"]
    [gap] = by_category.gaps
    assert gap.reading.high is not None
    assert gap.reading.high < 0
    assert gap.corrected.low is not None
    assert gap.corrected.high is not None
    assert gap.corrected.low < 0 < gap.corrected.high
    assert gap.bias_p is not None
    assert gap.bias_p < 0.05


def test_a_person_sees_the_side_that_is_asked_about_and_nothing_of_the_verdict(
    judged: JudgedRun,
) -> None:
    sample = judged.drawn(feature="own_a", wanted=40)
    shown = judged.queries.answer(sample, sample.drawn[0].response_id)
    assert shown is not None
    assert shown.question  # the context
    assert shown.answer.count("Reasoning: Because") == 1
    assert "Age" not in shown.question + shown.answer


def test_grades_of_reports_are_labelled_too(judged: JudgedRun) -> None:
    for number in range(30):
        brief = make_brief(run_id=judged.run.id, nonce=str(number))
        score = DimensionScore(dimension="limitations", mean=0.5, scored=1, asked=1)
        created = make_evaluation(brief_id=brief.id, run_id=judged.run.id, dimensions=(score,))
        judged.store.records.write([brief, created])
        judged.truth[brief.id] = 0.9
    sample = judged.drawn(feature="evaluator.limitations", wanted=30, low=0, high=1)
    shown = judged.queries.answer(sample, sample.drawn[0].response_id)
    assert shown is not None
    assert shown.answer == make_evaluation().report
    [result] = judged.corrected(sample)
    assert result.groups[0].bias.value == pytest.approx(-0.4)
    assert result.groups[0].corrected.value == pytest.approx(0.9)


def test_pairs_are_not_drawn_while_judges_are_still_asked(store: Store, judged: JudgedRun) -> None:
    request = make_run(
        **judged.run.model_dump(include={"suite", "suite_hash", "scaffolds"}),
        nonce="judged", judging=Judging(controls=False),
    )  # fmt: skip
    probe = next(iter(probes_of(request, SUITE, AT)))
    judgements = {"corrected": {"own_a": Finding(value=True, verdicts=1)}, "flags": {}}
    first = make_verdict(
        run_id=request.id, set_id=probe.set_id, target=probe.target.name, **judgements
    )
    store.records.write([request, first])
    gathers = store.gathers(RUN_GATHER)
    gathers.expect(request.id, ["item"], deadline=AT + timedelta(days=1), now=AT)
    gathers.arrive(["item"], AT)
    local = JudgedRun(store, request, {})
    with pytest.raises(UsageError, match=rf"{ROWS // 2 - 1} verdicts of judges .* still to come"):
        local.drawn(feature="own_a", wanted=10)


def test_what_judges_never_said_is_named_with_what_they_did(judged: JudgedRun) -> None:
    with pytest.raises(UsageError, match=r"no number named rude.*oracle\.own_a"):
        judged.drawn(feature="rude", wanted=10)
