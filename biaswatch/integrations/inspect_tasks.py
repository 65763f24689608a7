"""Suites as tasks of Inspect (`inspect eval biaswatch/lending`), extractors as its scorer.

Inspect finds this module by the entry point `inspect_ai` of the package.
"""

from typing import Any

from biaswatch.integrations.scorers import features_of, peer_module
from biaswatch.integrations.suite_questions import suite_of_single_questions
from biaswatch.measuring import TextMeasurer
from biaswatch.readers.suite_names import shipped_suites
from biaswatch.shared.contracts import Role, SuiteProbe

PACKAGE, GROUP = "inspect-ai", "group"
inspect_ai = peer_module("inspect_ai", PACKAGE)
datasets = peer_module("inspect_ai.dataset", PACKAGE)
models = peer_module("inspect_ai.model", PACKAGE)
scorers = peer_module("inspect_ai.scorer", PACKAGE)
solvers = peer_module("inspect_ai.solver", PACKAGE)
MESSAGES = {
    Role.SYSTEM: models.ChatMessageSystem,
    Role.USER: models.ChatMessageUser,
    Role.ASSISTANT: models.ChatMessageAssistant,
}


def _extractors(names: str) -> Any:
    measurer = TextMeasurer.named([names])

    async def score(state: Any, target: Any) -> Any:
        features = features_of(measurer, state.output.completion or None)
        missing = [f"{name}: {reason}" for name, value, reason in features if value is None]
        values = {name: float("nan") if value is None else value for name, value, _ in features}
        return scorers.Score(value=values, explanation="; ".join(missing) or None)

    return score


extractors = scorers.scorer(metrics={"*": [scorers.mean(), scorers.stderr()]}, name="extractors")(
    _extractors
)
"""`extractors("refusal,vader")`: each feature of an answer; NaN, Inspect's mark of unscored
answers, where it has no value."""


def suite_task(path: str) -> Any:
    """Return the task of a suite: its name, or its file."""
    suite = suite_of_single_questions(path)
    by_group = scorers.grouped(scorers.mean(), GROUP, all=False)
    return inspect_ai.Task(
        dataset=datasets.MemoryDataset(list(map(_sample, suite.probes)), name=suite.name),
        solver=solvers.generate(),
        scorer=extractors(",".join(suite.extractors)),
        metrics={"*": [scorers.mean(), scorers.stderr(), by_group]},
        metadata={"suite": suite.name, "suite_hash": suite.hash},
    )


def _sample(probe: SuiteProbe) -> Any:
    group = ", ".join(f"{dimension} {name}" for dimension, name in sorted(probe.groups.items()))
    return datasets.Sample(
        id=probe.key,
        input=[MESSAGES[message.role](content=message.content) for message in probe.as_messages],
        target=probe.expected or "",
        metadata={
            **probe.facts,
            **probe.groups,
            "set": probe.set,
            "unit": probe.unit_id,
            GROUP: group or "none",
        },
    )


def _register(name: str) -> None:
    def shipped() -> Any:
        return suite_task(name)

    inspect_ai.task(name=name)(shipped)


inspect_ai.task(name="suite")(suite_task)
for shipped_name in shipped_suites():
    _register(shipped_name)
