"""Suites asked of planted models, and their comparisons by the rules of a run."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

import biaswatch as bw
from biaswatch.services.extractor.domain.extractor import Reading
from biaswatch.services.extractor.extractors import choice, ranking, vader
from biaswatch.services.simulator.domain.planted_bias import Markers, PlantedModel
from biaswatch.services.simulator.domain.question import Turn
from biaswatch.services.simulator.domain.reply import OfferedTool, SimulatedRequest, words_for
from biaswatch.services.simulator.domain.speech import REASONS
from biaswatch.services.simulator.domain.tool_calls import call_for
from biaswatch.shared.contracts import Suite, SuiteProbe
from biaswatch.shared.parsing import rating_in

SEED = 7
VADER = vader.build()
VALUE = "value"
Row = dict[str, Any]


def text_of(probe: SuiteProbe) -> str:
    if probe.prompt:
        return probe.prompt
    return (
        f"{probe.variables.get('question', '')}\n{probe.variables['material']}\nRate from 1 to 4."
    )


def answers(
    suite: Suite, model: PlantedModel, known: Markers, repeats: int, first: int = 0, name: str = ""
) -> Iterator[Row]:
    """Yield a row for each answer, with its groups, its random factors and one value.

    Answers differ by the number of the repeat, from `first` on, and by the name of the model.
    """
    for probe in suite.probes:
        for repeat in range(first, first + repeats):
            yield {
                "set": probe.set,
                "unit": probe.key,
                **suite.groups_of(probe),
                **{f"random {name}": value for name, value in suite.random_of(probe).items()},
                VALUE: _value(suite, probe, model, known, f"{name}{repeat}"),
            }


def _value(
    suite: Suite, probe: SuiteProbe, model: PlantedModel, known: Markers, repeat: str
) -> float | None:
    if suite.tools:
        return _is_called(suite, probe, model, known, repeat)
    turns: list[Turn] = []
    ratings: list[float] = []
    for message in probe.messages or ():
        turns.append(Turn("user", message.content))
        text = words_for(SEED, SimulatedRequest("planted", tuple(turns), repeat), model, known)
        turns.append(Turn("assistant", text))
        ratings.append(rating_in(text))
    if ratings:
        return sum(ratings) / len(ratings)
    request = SimulatedRequest("planted", (Turn("user", text_of(probe)),), repeat)
    return _measured(suite, probe, words_for(SEED, request, model, known))


def _is_called(
    suite: Suite, probe: SuiteProbe, model: PlantedModel, known: Markers, repeat: str
) -> float:
    """Return 1 if the model calls the third tool, which is the action, after the lookups."""
    tools = tuple(OfferedTool(tool.name, {}) for tool in suite.tools)
    turns = [Turn("user", text_of(probe))]
    while True:
        call = call_for(
            SEED, SimulatedRequest("planted", tuple(turns), repeat, "0", tools), model, known
        )
        if call is None:
            return float(any(suite.tools[2].name in turn.calls for turn in turns))
        turns.append(Turn("assistant", "", (call.name,)))
        turns.append(Turn("tool", (probe.results or {}).get(call.name, "Done.")))


def _measured(suite: Suite, probe: SuiteProbe, text: str) -> float | None:
    if "ranking" in suite.extractors:
        options = dict.fromkeys(suite.options, "")
        reading = Reading(text, expected=probe.expected, options=options)
        return ranking.EXTRACTORS["ranking"].measure(reading)["rank"]
    if probe.expected and text.startswith("Answer"):
        reading = Reading(text, expected=probe.expected)
        return choice.EXTRACTORS["choice"].measure(reading)["correct"]
    if text.startswith(REASONS):
        return rating_in(text)
    return VADER.measure(Reading(text))["sentiment"]


def comparisons(suite: Suite, rows: list[Row]) -> list[Mapping[str, Any]]:
    """Return the comparisons of all dimensions as one family, by the suite's claim."""
    frame = pd.DataFrame(rows)
    named = {name for probe in suite.probes for name in suite.groups_of(probe)}
    dimensions = [name for name in sorted(named) if frame[name].nunique() > 1]
    diagnosis = bw.diagnose(
        frame, group=dimensions, feature=VALUE, set="set", unit="unit", permutations=0,
        random=[name for name in map(str, frame) if name.startswith("random ")],
        claim=suite.claim.value,
    )  # fmt: skip
    return list(diagnosis.parts["comparisons"])
