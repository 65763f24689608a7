"""Makers of labels, samples and corrections."""

from typing import Any

from biaswatch.shared.contracts import (
    CorrectedGap,
    CorrectedGroup,
    Correction,
    DrawnAnswer,
    Estimate,
    Label,
    LabelSample,
    LabelStratum,
    Verdict,
    person_id_of,
)
from tests.support.records.pipeline import AT, RUN_ID, make_response


def make_label(**fields: Any) -> Label:
    """Make what one person said of one answer."""
    person = fields.get("person", "anna")
    response = make_response(1)
    given = {
        "at": AT,
        "run_id": RUN_ID,
        "response_id": response.id,
        "unit_id": response.unit,
        "extractor": "words",
        "feature": "words",
        "value": 7.0,
        "person": person,
        "person_id": person_id_of(person),
        "instructions": "1",
    }
    return Label(**{**given, **fields})


def make_label_sample(**fields: Any) -> LabelSample:
    """Make a sample of one answer of each of two groups."""
    given = {
        "at": AT,
        "run_id": RUN_ID,
        "extractor": "words",
        "feature": "words",
        "dimension": "concept",
        "wanted": 2,
        "low": 0.0,
        "high": 10.0,
        "instructions": "1",
        "guidance": "Count the words.",
        "hidden": ("France", "Peru"),
        "strata": tuple(
            LabelStratum(
                target="replay:answers", scaffold="direct", group=group, answers=2, drawn=1,
                least_probability=0.5,
            )
            for group in ("France", "Peru")
        ),
        "drawn": tuple(
            DrawnAnswer(response_id=make_response(n).id, stratum=n - 1, probability=0.5)
            for n in (1, 2)
        ),
    }  # fmt: skip
    return LabelSample(**{**given, **fields})


def make_correction(**fields: Any) -> Correction:
    """Make what labels make of the finding of `make_diagnosis`."""
    estimate = Estimate(value=0.2, low=0.1, high=0.3)
    groups = tuple(
        CorrectedGroup(
            group=group, answers=400, labelled=100, drawn=150, reading=estimate, corrected=estimate,
            tuning=0.6, bias=estimate, absolute_error=estimate,
        )
        for group in ("France", "Peru")
    )  # fmt: skip
    gap = CorrectedGap(
        a="France", b="Peru", reading=estimate, corrected=estimate, by_itself=estimate,
        bias_difference=estimate, bias_p=0.001, verdict=Verdict.INCONCLUSIVE,
    )  # fmt: skip
    given = {
        "at": AT,
        "run_id": RUN_ID,
        "target": "replay:answers",
        "scaffold": "direct",
        "extractor": "words",
        "extractor_version": "1",
        "feature": "words",
        "dimension": "concept",
        "labels_hash": RUN_ID,
        "labels": 200,
        "people": 2,
        "labelled_until": AT,
        "alpha": 0.05,
        "tolerance": 0.0,
        "family": 1,
        "agreement": estimate,
        "groups": groups,
        "gaps": (gap,),
    }
    return Correction(**{**given, **fields})
