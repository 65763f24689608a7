"""Sets of a search that can still count as evidence."""

from dataclasses import dataclass

import numpy as np

from biaswatch.shared.analysis.search.replay import SearchState
from biaswatch.shared.stats.arrays import Ints


@dataclass(frozen=True)
class RemainingSets:
    """Upper limits of the sets that can still count."""

    cells: Ints
    """[topics, contexts]: for any region of a cell; accepted proposals are topics too."""
    hypotheses: Ints
    """[hypotheses]"""


def remaining_sets(state: SearchState) -> RemainingSets:
    """Return the remaining sets of each cell and each hypothesis.

    A person counts once for a region or, where findings are about these names alone, for a prompt.
    """
    drawing, own = state.drawing, state.sizes.topics
    if drawing.about_names:
        crossings = np.array(
            [[drawing.new_prompts(topic, context) for context in state.contexts]
             for topic in state.topics]
        )  # fmt: skip
        topics, contexts = crossings.sum(axis=1), crossings[:own].sum(axis=0)
        cells, everywhere = crossings, int(contexts.sum())
        unproposed = drawing.persons * len(contexts)
    else:
        topics = np.array([drawing.new_persons("topic", topic) for topic in state.topics])
        contexts = np.array([drawing.new_persons("context", name) for name in state.contexts])
        crossings = np.repeat(topics[:, None], len(contexts), axis=1)
        cells, everywhere = crossings.copy(), drawing.new_persons("everywhere")
        cells[:own] = np.maximum(cells[:own], contexts)
        unproposed = drawing.persons
    scenarios = np.full(state.sizes.scenarios, unproposed)
    scenarios[: len(topics) - own] = topics[own:]
    by_region = [topics[:own], contexts, [everywhere], crossings[:own].ravel(), scenarios]
    return RemainingSets(cells, np.repeat(np.concatenate(by_region), state.sizes.contrasts))
