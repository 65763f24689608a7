"""Keywords of pages that nothing was tuned to, against judgements made without knowing the method.

An annotator was shown the words that embeddings and BM25 named, mixed, and said which of them tell
that a sentence is about the page's topic.
"""

import json
from pathlib import Path

import pytest

from biaswatch.building.ranking import Ranking, nearest, ranking_of, words_of
from biaswatch.building.sentences import sentences

pytestmark = pytest.mark.models
PAGES = Path(__file__).parent / "judged_pages"
TOPICS = ("teaching", "Buddhism", "deafness", "retirement")
JUDGED = json.loads((PAGES / "judgements.json").read_text(encoding="utf-8"))


def named(ranking: Ranking, topic: str) -> set[str]:
    text = (PAGES / f"{topic.lower()}.txt").read_text(encoding="utf-8")
    context = list(sentences(text))
    return set(nearest(ranking, topic, words_of(context), 40, context, least=ranking.least))


def precision(ranking: Ranking) -> float:
    right = words = 0
    for topic in TOPICS:
        judged = JUDGED[topic.lower()]
        result = named(ranking, topic) & {*judged["right"], *judged["wrong"]}
        right += len(result & set(judged["right"]))
        words += len(result)
    return right / words


def test_four_of_five_keywords_by_embeddings_are_right(minilm: Path) -> None:
    ranking = ranking_of("embeddings", str(minilm))
    judged = {word for page in JUDGED.values() for some in page.values() for word in some}
    everything = set().union(*(named(ranking, topic) for topic in TOPICS))
    assert len(everything & judged) > 0.95 * len(everything)
    assert precision(ranking) >= 0.8
    assert precision(ranking) > precision(ranking_of("lexical", None)) + 0.2


@pytest.mark.parametrize("topic", TOPICS)
def test_no_heading_is_part_of_a_sentence(topic: str) -> None:
    text = (PAGES / f"{topic.lower()}.txt").read_text(encoding="utf-8")
    headings = [line for line in text.splitlines() if not line.endswith(".")]
    result = list(sentences(text))
    assert len(headings) >= 5
    assert not any(item.startswith(f"{heading} ") for item in result for heading in headings)
