"""Sentences under the table of a diagnosis: how the summary came about, and the group means."""

import numpy as np
import pandas as pd

import biaswatch as bw
from biaswatch.render.result_sentences import result_facts
from biaswatch.shared.formatting import number
from biaswatch.shared.presentation.verdicts import SHIFTS


def sentences(diagnosis: bw.FrameDiagnosis) -> list[str]:
    result = diagnosis.result
    return [str(fact) for _, fact in result_facts(result.parts, result.about, result.warnings)]


def twins(sets_that_differ: int, features: int = 1) -> bw.FrameDiagnosis:
    frame = pd.DataFrame({"set": np.repeat(np.arange(30), 2), "group": list("ab") * 30})
    names = [f"rating{number}" for number in range(features)]
    for name in names:
        frame[name] = 3.0 + ((frame["group"] == "a") & (frame["set"] < sets_that_differ))
    return bw.diagnose(
        frame, group="group", feature=names, set="set", permutations=0,
        ranges=dict.fromkeys(names, (1, 5)),
    )  # fmt: skip


def test_the_interval_of_twins_agrees_with_their_p_value_and_is_explained_once() -> None:
    diagnosis = twins(11, features=2)
    rows = diagnosis.comparisons
    assert set(rows["summary"]) == {"disparity"}
    assert (rows["ci_low"] < 0).all()
    assert (rows["summary_ci_low"] > 0).all()
    assert (rows["p_summary"] == rows["p_same_treatment"]).all()
    assert sentences(diagnosis).count(SHIFTS) == 1
    shown = number(rows["summary_ci_low"][0])
    assert f"[{shown}, " in diagnosis.sentences[0]


def test_of_many_groups_the_highest_and_the_lowest_means_are_shown() -> None:
    frame = pd.DataFrame(
        {"group": np.repeat(list("abcdefghij"), 2), "score": np.repeat(range(10), 2)}
    )
    diagnosis = bw.diagnose(frame, group="group", feature="score", permutations=0)
    [means] = [sentence for sentence in sentences(diagnosis) if sentence.startswith("Mean score")]
    named = [part.split()[0] for part in means.removeprefix("Mean score: ").split("; ")]
    assert named == ["j", "i", "h", "g", "2", "d", "c", "b", "a"]
    assert "; 2 groups between; " in means
