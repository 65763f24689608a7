"""Suites of a model's own answers: their acceptance by group is the coherence of the model."""

from collections.abc import Iterator

import pandas as pd
import pytest

import biaswatch as bw
from biaswatch.exporting.coherence import own_answers
from biaswatch.exporting.twin_answers import TwinAnswers, twin_answers
from biaswatch.services.extractor.domain.extractor import Reading
from biaswatch.services.extractor.extractors import choice
from biaswatch.services.simulator.domain.planted_bias import PlantedModel, ReadingErrors
from biaswatch.services.simulator.domain.question import Turn
from biaswatch.services.simulator.domain.reply import SimulatedRequest, words_for
from biaswatch.shared.contracts import Suite
from biaswatch.shared.errors import UsageError

NAMES = {"white": "Alice", "black": "Abena"}
KNOWN = {name: (group,) for group, name in NAMES.items()}
REJECTS = ReadingErrors(sensitivity=0.95, sensitivity_gaps={"black": -0.5})


def answers(groups: tuple[str, ...] = ("white", "black")) -> TwinAnswers:
    rows = (
        {
            "target": "m", "set": f"set-{n}", "groups.race": group, "key": f"{n}-{group}",
            "text": f"{NAMES[group]} deserves the post, case {n}.", "prompt": "What do you think?",
        }
        for n in range(60)
        for group in groups
    )  # fmt: skip
    return twin_answers((("row", row) for row in rows), "race")


def verdicts(suite: Suite, model: PlantedModel) -> list[str]:
    frame = pd.DataFrame(list(replies(suite, model)))
    diagnosis = bw.diagnose(
        frame, group="race", feature="correct", set="set", unit="unit", permutations=0
    )
    return list(diagnosis.comparisons["verdict"])


def replies(suite: Suite, model: PlantedModel) -> Iterator[dict[str, object]]:
    for probe in suite.probes:
        request = SimulatedRequest("m", (Turn("user", str(probe.prompt)),), "0")
        text = words_for(7, request, model, KNOWN)
        reading = Reading(text, expected=probe.expected, options=dict.fromkeys(suite.options, ""))
        yield {
            "set": probe.set, "unit": probe.unit, **probe.groups,
            "correct": choice.EXTRACTORS["choice"].measure(reading)["correct"],
        }  # fmt: skip


def test_a_model_that_rejects_its_answers_about_one_group_is_found() -> None:
    suite = own_answers(answers(), "race")
    assert len(suite.probes) == 120
    assert "> Abena deserves the post, case 0." in str(suite.probes[1].prompt)
    assert verdicts(suite, PlantedModel(judging_errors=REJECTS)) == ["disparity"]
    assert verdicts(suite, PlantedModel()) != ["disparity"]


def test_answers_of_one_group_cannot_be_compared() -> None:
    with pytest.raises(UsageError, match="No set has answers of two groups of 'race'"):
        own_answers(answers(("white",)), "race")
