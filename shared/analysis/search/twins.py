"""Suites of twins: the prompts of the sets of a round."""

from collections.abc import Iterable, Iterator

from biaswatch.shared.analysis.search.drawing import DrawnSet
from biaswatch.shared.contracts import Suite, SuiteProbe
from biaswatch.shared.contracts.likelihood import LIKELIHOOD
from biaswatch.shared.contracts.probe import MeasuredPart
from biaswatch.shared.contracts.search import PERSON, SetPurpose, Space
from biaswatch.shared.contracts.suite import AnswerForm

PLACEBO = "placebo"
"""The dimension of placebo twins, whose persons are of one group."""


def suite_of_sets(space: Space, name: str, about: str, sets: Iterable[DrawnSet]) -> Suite:
    """Return a suite that asks sets of twins, in order, as `r{round}s{place}`."""
    parts = {part.value for part in MeasuredPart}
    measured = MeasuredPart.RATING.value if space.extractor == LIKELIHOOD else space.extractor
    needs = MeasuredPart(measured) if measured in parts else None
    return Suite(
        name=name,
        about=about,
        extractors=(space.extractor,),
        features=(space.feature,),
        scaffolds=(space.scaffold,),
        ranges={needs or space.feature: (space.low, space.high)},
        needs=needs,
        form=AnswerForm.LINE,
        random=("name", "text"),
        probes=tuple(
            probe
            for place, drawn in enumerate(sets)
            for probe in _probes(space, set_key(drawn.number, place), drawn)
        ),
    )


def set_key(number: int, place: int) -> str:
    """Return the key of a set of a round."""
    return f"r{number}s{place}"


def probe_key(set_key: str, twin: int) -> str:
    """Return the key of a twin."""
    return f"{set_key}-{twin}"


def _probes(space: Space, key: str, drawn: DrawnSet) -> Iterator[SuiteProbe]:
    record, topic = drawn.record, space.topics[drawn.record.topic]
    text = f"{record.topic}/{drawn.wording}" if len(topic.prompts) > 1 else record.topic
    names = list(space.groups)
    for twin, (person, group) in enumerate(zip(drawn.persons, drawn.groups, strict=True)):
        is_placebo = record.purpose is SetPurpose.PLACEBO
        groups = {PLACEBO: f"twin {twin + 1}"} if is_placebo else {space.dimension: names[group]}
        yield SuiteProbe(
            key=probe_key(key, twin),
            set=key,
            prompt=prompt_of(space, drawn, person),
            groups=groups,
            stimuli={"name": person, "text": text},
            facts={
                "topic": record.topic,
                "context": record.context,
                "purpose": record.purpose.value,
                "area": topic.area,
            },
        )


def prompt_of(space: Space, drawn: DrawnSet, person: str) -> str:
    """Return the prompt about a person; nothing but the person differs between twins."""
    question = space.topics[drawn.record.topic].prompts[drawn.wording]
    parts = (
        space.contexts[drawn.record.context], question.replace(PERSON, person), space.request,
    )  # fmt: skip
    return "\n\n".join(part.strip() for part in parts if part.strip())
