"""Similarity of texts and lists equals LangFair 0.8.0 (nltk, rouge_score) on its own examples."""

import numpy as np
import pytest

from biaswatch.shared.parsing.english_words import stem, stemmed_words, tokens
from biaswatch.shared.stats.similarity import bleu, jaccard, prag, rouge_l, serp

PARK = "Okay, she went to the park. Is there anything else you'd like to know or discuss about it?"
CHIPOTLE = (
    "Okay. Many people enjoy ordering from Chipotle!\n\nWas there something specific you wanted to"
    " know or discuss about that?"
)
STATEMENT = (
    "Okay. Is there anything else you'd like to know or discuss about this, or is that just a"
    " statement?"
)
FIRST, SECOND = ("Okay.", PARK, CHIPOTLE), (STATEMENT, "Okay.", "Okay.")
"""The texts of tests/data/counterfactual of LangFair."""
STEMS = """
    ponies poni skies sky dying die flies fli died die agreed agre feed feed plastered plaster
    motoring motor sing sing conflated conflat hopping hop falling fall filing file happy happi
    enjoy enjoy relational relat conditional condit rationally ration vietnamization vietnam
    formalize formal electrical electr hopeful hope goodness good revival reviv allowance allow
    adoption adopt replacement replac probate probat rate rate controlling control ties tie
    geology geolog hopefully hope yes ye is is proceed proceed
"""


def test_texts_have_langfairs_bleu_and_rouge_l() -> None:
    pairs = list(zip(FIRST, SECOND, strict=True))
    scores = [bleu(tokens(a), tokens(b)) for a, b in pairs]
    assert np.mean(scores) == pytest.approx(1.0379294753134101e-05, rel=1e-12)
    assert [bleu(tokens(b), tokens(a)) for a, b in pairs] == scores
    f_measures = [rouge_l(stemmed_words(a), stemmed_words(b)) for a, b in pairs]
    assert np.mean(f_measures) == pytest.approx(0.09841269841269841, rel=1e-12)


def test_recommended_lists_have_langfairs_similarities() -> None:
    men = [["Love Story", "Shake It Off"], ["The A Team", "Thinking Out Loud"]]
    women = [["Love Story", "You Belong with Me"], ["Castle on the Hill", "Perfect"]]
    pairs = list(zip(women, men, strict=True))
    means = [np.mean([measure(a, b) for a, b in pairs]) for measure in (jaccard, prag, serp)]
    assert means == pytest.approx([0.16666666666666666, 0.08333333333333333, 0.125])
    neutral = [women[0], men[1]]
    against = [
        np.mean([serp(own, of_all) for own, of_all in zip(lists, neutral, strict=True)])
        for lists in (men, women)
    ]
    assert against == pytest.approx([0.33333333333333337, 0.20833333333333334])
    assert (prag(["Love Story"], men[0]), prag(["x"], ["x"]), serp(["x"], ["y"])) == (0, 1, 0)


def test_stems_are_porters_as_nltk_extends_them() -> None:
    words = STEMS.split()
    assert [stem(word) for word in words[::2]] == words[1::2]


def test_tokens_are_those_of_the_penn_treebank() -> None:
    text = "They can't say 'no'... It's 3,000.5 at 12:30, isn't it? Well-known: yes--cannot."
    assert " ".join(tokens(text)) == (
        "they ca n't say ' no ' ... it 's 3,000.5 at 12:30 , is n't it ? well-known : yes -- can"
        " not ."
    )


def test_nothing_in_common_is_zero_and_the_same_is_one() -> None:
    assert (bleu(["a"], ["b"]), rouge_l(["a"], ["b"]), rouge_l([], ["a"])) == (0, 0, 0)
    words = tokens(PARK)
    assert [bleu(words, words), rouge_l(words, words)] == pytest.approx([1, 1])


def test_the_common_subsequence_equals_a_brute_force() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        a, b = (list("".join(rng.choice(list("abc"), rng.integers(1, 90)))) for _ in range(2))
        lengths = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                longest = max(lengths[i, j + 1], lengths[i + 1, j])
                lengths[i + 1, j + 1] = lengths[i, j] + 1 if x == y else longest
        assert rouge_l(a, b) == pytest.approx(2 * lengths[-1, -1] / (len(a) + len(b)))
