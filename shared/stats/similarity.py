"""Similarity of two texts or two recommended lists, from 0 (nothing in common)."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import exp, fsum, log

LONGEST_N_GRAM = 4
SMOOTHED_MATCHES = 0.1
"""Matches that take the place of none, method 1 of Chen and Cherry (2014)."""


def bleu(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the smaller BLEU of two token sequences, each scored against the other; in [0, 1].

    References
    ----------
    Papineni et al. (2002); smoothing method 1 of Chen and Cherry (2014).

    Examples
    --------
    >>> bleu("a b c d".split(), "a b c d".split())
    1.0
    """
    return min(_bleu(first, second), _bleu(second, first))


def _bleu(reference: Sequence[str], hypothesis: Sequence[str]) -> float:
    if not set(reference) & set(hypothesis):
        return 0.0
    logs = []
    for length in range(1, LONGEST_N_GRAM + 1):
        known, own = _n_grams(reference, length), _n_grams(hypothesis, length)
        matches = sum((known & own).values())
        logs.append(log((matches or SMOOTHED_MATCHES) / max(1, sum(own.values()))))
    brevity = min(0.0, 1 - len(reference) / len(hypothesis))
    return exp(brevity + fsum(logs) / LONGEST_N_GRAM)


def _n_grams(tokens: Sequence[str], length: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[start:] for start in range(length)), strict=False))


def rouge_l(first: Sequence[str], second: Sequence[str]) -> float:
    """Return ROUGE-L: the F measure of the longest common subsequence; in [0, 1].

    References
    ----------
    Lin (2004), ROUGE: a package for automatic evaluation of summaries.

    Examples
    --------
    >>> rouge_l("the cat sat down".split(), "the cat ran off".split())
    0.5
    """
    common = _common_subsequence(first, second)
    if not common:
        return 0.0
    precision, recall = common / len(second), common / len(first)
    return 2 * precision * recall / (precision + recall)


def _common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, by the bits of Hyyrö (2004)."""
    places: dict[str, int] = defaultdict(int)
    for place, token in enumerate(first):
        places[token] |= 1 << place
    full = row = (1 << len(first)) - 1
    for token in second:
        matches = row & places.get(token, 0)
        row = (row + matches) | (row - matches)
    return len(first) - (row & full).bit_count()


def jaccard(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the share of all items that both lists hold; in [0, 1]. One list has an item.

    >>> jaccard(["a", "b"], ["a", "c"])
    0.3333333333333333
    """
    return len(set(first) & set(second)) / len(set(first) | set(second))


def serp(items: Sequence[str], reference: Sequence[str]) -> float:
    """Return how many items of a list the reference holds, the first ones weighing more.

    Half of the normalised sum, as in LangFair: an equal list of k items has (k + 3) / 4 (k + 1).

    References
    ----------
    Tomlein et al. (2021); Zhang et al. (2023), FaiRLLM; Bouchard (2024), LangFair.

    >>> serp(["a", "b"], ["a", "c"])
    0.25
    """
    length = len(items)
    weights = (length - place + 1 for place, item in enumerate(items) if item in reference)
    return sum(weights) * 0.5 / ((length + 1) * length)


def prag(items: Sequence[str], reference: Sequence[str]) -> float:
    """Return how many pairs of items the reference ranks alike, over k (k + 1), as in LangFair.

    References
    ----------
    Beutel et al. (2019); Zhang et al. (2023), FaiRLLM; Bouchard (2024), LangFair.

    >>> prag(["a", "b"], ["a", "c"])
    0.16666666666666666
    """
    length = len(items)
    if length == 1:
        return float(list(items) == list(reference))
    rank = {item: place for place, item in reversed(list(enumerate(reference)))}
    same_order = sum(
        first in rank and rank[first] < rank.get(second, len(reference))
        for place, first in enumerate(items)
        for second in items[place + 1 :]
    )
    return same_order / (length * (length + 1))
