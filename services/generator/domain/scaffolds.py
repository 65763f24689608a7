"""Scaffolds: how a probe becomes model calls and an answer."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from statistics import fmean

from biaswatch.services.generator.domain.constrained import (
    constrained_messages,
    has_part,
    part_schema,
    requested_of,
)
from biaswatch.services.generator.domain.conversation import Conversation
from biaswatch.services.generator.domain.likelihood import Likelihood
from biaswatch.services.generator.domain.planned_calls import (
    ANSWER,
    CallResult,
    PlannedCall,
    Scaffold,
)
from biaswatch.services.generator.domain.questions import (
    CHOOSE_LAST,
    CRITERION,
    NOT_THE_QUESTION,
    OPTION,
    SCALE,
    STEP_BY_STEP,
    THEN_AS_ASKED,
    UnfitProbe,
    all_criteria,
    choice_instruction,
    choice_schema,
    criteria_of,
    judgements,
    material_of,
    one_criterion,
    option_lines,
    question_of,
    rating_instruction,
    rating_schema,
    scale_of,
    user,
    with_prefix,
    with_request,
)
from biaswatch.services.generator.domain.tool_use import ToolUse
from biaswatch.shared.contracts import Probe
from biaswatch.shared.contracts.likelihood import LIKELIHOOD
from biaswatch.shared.contracts.probe import CONVERSATION
from biaswatch.shared.contracts.response import CONSTRAINED_STEP
from biaswatch.shared.contracts.tools import TOOLS
from biaswatch.shared.llm.port import AnswerSchema, Failure


class Direct(Scaffold):
    """Sends the messages of the probe, or a question built from its variables."""

    def first(self, probe: Probe) -> tuple[PlannedCall, ...]:
        """See `Scaffold.first`."""
        return (built(probe) if probe.variables else own_call(probe),)


def own_call(probe: Probe) -> PlannedCall:
    """Return the call with the probe's own messages and schema."""
    schema = AnswerSchema("answer", probe.answer_schema) if probe.answer_schema else None
    return PlannedCall(ANSWER, probe.messages, schema)


class ChainOfThought(Scaffold):
    """Adds a request to think step by step."""

    def first(self, probe: Probe) -> tuple[PlannedCall, ...]:
        """See `Scaffold.first`."""
        if probe.variables:
            return (built(probe, STEP_BY_STEP),)
        return (
            PlannedCall(ANSWER, with_request(probe.messages, f"{STEP_BY_STEP} {THEN_AS_ASKED}")),
        )


class ReasonAndChoose(Scaffold):
    """Asks for reasoning before the choice, so that the reasoning can be questioned."""

    def first(self, probe: Probe) -> tuple[PlannedCall, ...]:
        """See `Scaffold.first`."""
        if not probe.variables:
            return (
                PlannedCall(
                    ANSWER, with_request(probe.messages, f"{CHOOSE_LAST} {NOT_THE_QUESTION}")
                ),
            )
        if not with_prefix(probe, OPTION):
            raise UnfitProbe("There are no options; name each in a variable `option:<letter>`.")
        return (built(probe, NOT_THE_QUESTION),)


def built(probe: Probe, *how: str) -> PlannedCall:
    """Build the question from variables; `how` holds further instructions."""
    question, material, options = question_of(probe), material_of(probe), with_prefix(probe, OPTION)
    if options:
        instructions = (choice_instruction(options), *how)
        message = user(question, *instructions, material, option_lines(options))
        return PlannedCall(ANSWER, (message,), choice_schema(options))
    if SCALE not in probe.variables:
        return PlannedCall(ANSWER, (user(question, *how, material),))
    scale = scale_of(probe)
    criteria = criteria_of(probe) if with_prefix(probe, CRITERION) else {}
    instructions = (rating_instruction(scale), all_criteria(criteria), *how)
    return PlannedCall(ANSWER, (user(question, *instructions, material),), rating_schema(scale))


SYNTHESIS = "synthesis"


class Decomposed(Scaffold):
    """Judges each criterion in a call of its own, then asks for a synthesis."""

    def first(self, probe: Probe) -> tuple[PlannedCall, ...]:
        """See `Scaffold.first`."""
        return criteria_calls(probe)

    def then(self, probe: Probe, results: Mapping[str, CallResult]) -> tuple[PlannedCall, ...]:
        """See `Scaffold.then`."""
        if SYNTHESIS in results:
            return ()
        scale = scale_of(probe)
        ratings = {
            name.removeprefix(CRITERION): (result.rating, result.text)
            for name, result in results.items()
            if result.rating is not None
        }
        message = user(
            question_of(probe), rating_instruction(scale), judgements(ratings), material_of(probe)
        )
        return (PlannedCall(SYNTHESIS, (message,), rating_schema(scale)),)

    def conclude(self, probe: Probe, results: Mapping[str, CallResult]) -> str:
        """See `Scaffold.conclude`."""
        return results[SYNTHESIS].text


class DecomposedAlgorithmic(Scaffold):
    """Judges each criterion in a call of its own; the answer is the mean rating."""

    def first(self, probe: Probe) -> tuple[PlannedCall, ...]:
        """See `Scaffold.first`."""
        return criteria_calls(probe)

    def conclude(self, probe: Probe, results: Mapping[str, CallResult]) -> str:
        """Return the mean rating and the ratings of the criteria."""
        ratings = {
            name.removeprefix(CRITERION): result.rating
            for name, result in results.items()
            if result.rating is not None
        }
        mean = scale_of(probe).rounded(fmean(ratings.values()))
        return json.dumps({"criteria": ratings, "rating": mean}, ensure_ascii=False)


def criteria_calls(probe: Probe) -> tuple[PlannedCall, ...]:
    """Return one call for each criterion."""
    scale = scale_of(probe)
    question, how, material = question_of(probe), rating_instruction(scale), material_of(probe)
    calls = []
    for name, guidance in criteria_of(probe).items():
        message = user(question, how, one_criterion(name, guidance), material)
        calls.append(PlannedCall(CRITERION + name, (message,), rating_schema(scale), scale))
    return tuple(calls)


FREE = "free"
"""The name of the call without a schema, where one with a schema may follow."""


class Constrained(Scaffold):
    """Asks freely; where the answer lacks the requested part, asks again under a schema."""

    def __init__(self, free: Scaffold) -> None:
        self._free = free

    def first(self, probe: Probe) -> tuple[PlannedCall, ...]:
        """See `Scaffold.first`."""
        requested_of(probe)
        return (replace(self._call(probe), name=FREE, answer_schema=None),)

    def then(self, probe: Probe, results: Mapping[str, CallResult]) -> tuple[PlannedCall, ...]:
        """See `Scaffold.then`."""
        requested, free = requested_of(probe), results[FREE]
        if CONSTRAINED_STEP in results or (
            free.failure is None and has_part(probe, free.text, cut_off=_was_cut_off(free))
        ):
            return ()
        messages = constrained_messages(requested, self._call(probe).messages)
        schema = part_schema(requested)
        return (PlannedCall(CONSTRAINED_STEP, messages, schema, enforced=True),)

    def required(self, results: Mapping[str, CallResult]) -> Mapping[str, CallResult]:
        """Return the results without a free answer that was cut off, withheld or empty."""
        failure = results[FREE].failure
        passed = failure is None or failure.why in UNANSWERED
        return {name: result for name, result in results.items() if name != FREE or not passed}

    def conclude(self, probe: Probe, results: Mapping[str, CallResult]) -> str:
        """See `Scaffold.conclude`."""
        return results.get(CONSTRAINED_STEP, results[FREE]).text

    def _call(self, probe: Probe) -> PlannedCall:
        [call] = self._free.first(probe)
        return call


UNANSWERED = frozenset({Failure.TRUNCATED, Failure.EMPTY})
"""Failures of a free answer that lead to the constrained call."""


def _was_cut_off(result: CallResult) -> bool:
    return result.answer is not None and result.answer.finish_reason == "length"


SCAFFOLDS: Mapping[str, Callable[[], Scaffold]] = {
    "direct": Direct,
    "chain_of_thought": ChainOfThought,
    "reason_and_choose": ReasonAndChoose,
    "decomposed": Decomposed,
    "decomposed_algorithmic": DecomposedAlgorithmic,
    LIKELIHOOD: Likelihood,
    CONVERSATION: Conversation,
    TOOLS: ToolUse,
}
"""Constructors by name; a new scaffold is a class and a row here."""


SCHEMA_OPTION = "-schema"
"""The end of a scaffold's name for its option `answer: schema`."""
ONE_CALL = ("direct", "chain_of_thought", "reason_and_choose")
"""Scaffolds that have this option."""


def scaffold_of(name: str) -> Scaffold:
    """Return the scaffold of this name, or raise UnfitProbe."""
    free = name.removesuffix(SCHEMA_OPTION)
    if free != name and free in ONE_CALL:
        return Constrained(SCAFFOLDS[free]())
    if name not in SCAFFOLDS:
        names = sorted(SCAFFOLDS) + [one + SCHEMA_OPTION for one in ONE_CALL]
        raise UnfitProbe(f"Unknown scaffold {name}; the scaffolds are {', '.join(names)}.")
    return SCAFFOLDS[name]()
