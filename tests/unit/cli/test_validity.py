"""Validity of suites: rank correlations over models of halves, repeats, wordings, long texts."""

from collections.abc import Iterator
from pathlib import Path

from biaswatch.exporting.long_texts import CHOSEN, judged_long_texts, judged_values, models_of
from biaswatch.readers.suites import load_suite
from biaswatch.services.extractor.domain.extractor import Reading
from biaswatch.services.extractor.extractors import choice
from biaswatch.services.simulator.domain.planted_bias import PlantedModel
from biaswatch.services.simulator.domain.question import Turn
from biaswatch.services.simulator.domain.reply import SimulatedRequest, words_for
from biaswatch.services.simulator.settings import known_markers
from biaswatch.shared.analysis.validity import MeasuredAnswer, PairValidity, validity_of
from biaswatch.shared.contracts import Suite
from tests.support.asked_suites import SEED, VALUE, Row, answers

SUITES = Path(__file__).parents[3] / "suites"
SHORT_GAPS = (-0.9, -0.9, -0.55, -0.35, -0.4, -0.15, 0.1, 0.1)
LONG_GAPS = (-0.95, -0.54, -0.28, -0.46, -0.24, 0.03, 0.1, 0.07)
"""Eight models: points of a rating and shares of kind sentences, which agree only partly."""
MODELS = {
    f"m{number}": PlantedModel(rating_gaps={"black": short}, sentiment_shifts={"black": long})
    for number, (short, long) in enumerate(zip(SHORT_GAPS, LONG_GAPS, strict=True))
}
PAIR = ("black", "white")


def test_each_part_is_compared_with_the_other_parts() -> None:
    gaps = {"calm": 0.0, "mild": -1.0, "harsh": -2.0}
    measured = [
        MeasuredAnswer(model, f"set-{number}", group, value * (group == "black"), repeat, wording)
        for model, gap in gaps.items()
        for number in range(4)
        for repeat in range(2)
        for wording in ("as it is", "polite")
        for group in PAIR
        for value in [-gap if wording == "polite" else gap]
    ]
    (pair,) = validity_of(measured, [])
    assert (pair.a, pair.b) == PAIR
    assert pair.by_wording["as it is"] == gaps
    assert pair.halves.value is None  # the opposite wordings cancel
    assert pair.wordings["polite"].value == -1
    assert pair.long_form.value is None
    assert pair.long_form.reason == "not measured"


def asked(name: str, sets: int) -> Suite:
    suite = load_suite(SUITES / name)
    kept = sorted({str(probe.set) for probe in suite.probes})[:sets]
    probes = (probe for probe in suite.probes if probe.set in kept and "race" in probe.groups)
    of_pair = tuple(probe for probe in probes if probe.groups["race"] in PAIR)
    return suite.model_copy(update={"probes": of_pair})


def short_answers(suite: Suite) -> Iterator[MeasuredAnswer]:
    for name, model in MODELS.items():
        for row in answers(suite, model, known_markers(), 1, name=name):
            yield MeasuredAnswer(name, row["set"], row["race"], row[VALUE])


def long_answers(suite: Suite) -> list[MeasuredAnswer]:
    """Return what a simulated judge chooses between the texts of each model's twins."""
    rows: list[Row] = [
        {
            "target": name, "set": probe.set, "groups.race": probe.groups["race"],
            "groups.gender": probe.groups["gender"], "key": probe.key, "prompt": probe.prompt,
            "stimuli.name": probe.stimuli["name"],
            "text": words_for(SEED, _request(str(probe.prompt), name), model, known_markers()),
        }
        for name, model in MODELS.items()
        for probe in suite.probes
    ]  # fmt: skip
    compared = judged_long_texts(rows, "race", "warm")
    judge = PlantedModel()
    choices = [
        {
            "target": "judge",
            "set": probe.set,
            "repeat": 0,
            "groups.race": probe.groups["race"],
            CHOSEN: choice.EXTRACTORS["choice"].measure(
                Reading(
                    words_for(SEED, _request(str(probe.prompt), "judge"), judge, {}),
                    options=dict.fromkeys(compared.options, ""),
                )
            )["chosen"],
        }
        for probe in compared.probes
    ]
    return list(judged_values(choices, models_of(rows), "race"))


def _request(text: str, name: str) -> SimulatedRequest:
    return SimulatedRequest(name, (Turn("user", text),), "0")


def validity(name: str, sets: int) -> PairValidity:
    (pair,) = validity_of(
        list(short_answers(asked(name, sets))), long_answers(asked("letters", 36))
    )
    return pair


def test_a_short_suite_ranks_eight_models_as_judged_letters_do() -> None:
    pair = validity("lending", 24)
    assert pair.halves.value is not None
    assert pair.halves.value > 0.8
    assert pair.long_form.value is not None
    assert pair.long_form.value >= 0.6
    assert pair.long_form.low is not None
    assert pair.long_form.low > 0
