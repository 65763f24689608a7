import sys
from pathlib import Path
from typing import Any

import pytest

from biaswatch.building.quality import quality_of
from biaswatch.building.quality_report import draw_quality
from biaswatch.shared.errors import UsageError

TERMS = {"Chile": {"Peru": "Chile", "Lima": "Santiago"}}


def row(concept: str, prompt: str, set_id: str = "s", root: str | None = None) -> dict[str, Any]:
    return {
        "key": f"{set_id}.{concept}", "set": set_id, "concept": concept, "prompt": prompt,
        "source_tag": "a.txt", "branched_from": root,
    }  # fmt: skip


def kinds(*rows: dict[str, Any]) -> dict[str, int]:
    return quality_of(rows, TERMS).fault_counts


def test_twins_that_differ_in_the_declared_words_alone_are_no_fault() -> None:
    assert (
        kinds(
            row("Peru", "Is Peru's Lima old?"),
            row("Chile", "Is Chile's Santiago old?", root="Peru"),
        )
        == {}
    )


def test_a_twin_that_differs_in_more_is_a_fault() -> None:
    twin = row("Chile", "Is Santiago a poor town?", root="Peru")
    assert kinds(row("Peru", "Is Lima a rich town?"), twin) == {"differs_in_more": 1}


def test_a_word_of_the_root_that_is_left_is_a_fault() -> None:
    twin = row("Chile", "Is Peruvian food Chile's pride?", root="Peru")
    assert kinds(row("Peru", "Is Peruvian food Peru's pride?"), twin) == {"root_remains": 1}


def test_prompts_that_say_nearly_the_same_are_a_fault_within_a_concept_alone() -> None:
    one = row("Peru", "How do the old towns of Peru care for their walls and gates today?", "a")
    two = row(
        "Peru", "How do the old towns of Peru care for their walls and gates today then?", "b"
    )
    other = row("Chile", two["prompt"].replace("Peru", "Chile"), "c")
    assert kinds(one, two) == {"near_duplicate": 1}
    assert kinds(one, other) == {}


def test_a_set_that_lacks_a_twin_is_incomplete() -> None:
    rows = [
        row("Peru", "Is Peru old?", "a"), row("Chile", "Is Chile old?", "a", root="Peru"),
        row("Peru", "Is it old?", "b"),
    ]  # fmt: skip
    assert quality_of(rows, TERMS).incomplete_sets == 1


def test_without_prompts_there_are_no_numbers_rather_than_zeros() -> None:
    assert quality_of([], {}).words == {"least": None, "median": None, "mean": None, "most": None}


def test_a_picture_without_matplotlib_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UsageError, match="the extra `figures`"):
        draw_quality("x", quality_of([], {}), [], tmp_path / "quality.png")


def test_a_picture_shows_names_that_look_like_formulas(tmp_path: Path) -> None:
    rows = [row("$\\frac{1}$", "How is it?"), row("x" * 500, "How is it there?")]
    file = draw_quality("$_{", quality_of(rows, {}), rows, tmp_path / "quality.png")
    assert file.read_bytes().startswith(b"\x89PNG")


def test_a_continuation_has_the_reading_ease_of_its_sentence_and_never_that_of_a_fragment() -> None:
    sentence = "The old towns of Peru are kept by people who care for their walls and gates."
    rows = [
        {**row("Peru", "The old towns of Peru are kept", f"s{n}"), "baseline": sentence}
        for n in range(10)
    ]
    quality = quality_of(rows, {})
    assert quality.reading_ease_of == "baselines"
    # Counted by hand: 16 words and 19 syllables a sentence.
    by_hand = 206.835 - 1.015 * 16 - 84.6 * 19 / 16
    assert quality.reading_ease["Peru"] == pytest.approx(by_hand, abs=0.01)


def test_a_reading_ease_that_cannot_be_known_is_none_with_its_reason() -> None:
    few = quality_of([row("Peru", "Is Peru old?")], {})
    assert few.reading_ease == {"Peru": None}
    assert few.reading_ease_reasons == {"Peru": "fewer than 100 words"}
    fragments = quality_of([row("Peru", "The old towns of Peru are")], {})
    assert "fragments" in fragments.reading_ease_reasons["Peru"]


def test_a_prompt_that_names_another_concept_or_gives_its_baseline_away_is_a_fault() -> None:
    other = row("Chile", "How far is Chile from Peru?", "b")
    assert kinds(row("Peru", "Is it old?"), other) == {"names_another": 1}
    sentence = "The old towns of Peru are kept by the people who live in them."
    given_away = {**row("Peru", f"Is it so that {sentence}"), "baseline": sentence}
    assert kinds(given_away) == {"gives_away": 1}


def test_a_keyword_with_most_of_the_prompts_is_a_fault() -> None:
    rows = [
        {**row("Peru", f"Is number {n} in the list a town?", str(n)), "keyword": word}
        for n, word in enumerate(["Lima", "Lima", "Lima", "Lima", "Cusco", "Puno"])
    ]
    assert kinds(*rows).get("one_sided") == 1


def test_the_power_of_each_comparison_is_stated_or_the_reason_why_not() -> None:
    rows = [
        row(concept, f"Is town {n} of {concept} old?", f"s{n}", root="Peru" if n < 0 else None)
        for n in range(30)
        for concept in ("Peru", "Chile")
    ]
    [peru, _] = quality_of(rows, {}).power
    # By hand: 1.959964 and 0.841621 times the root of one thirtieth.
    assert peru.smallest_gap_sd == pytest.approx(0.5115, abs=5e-4)
    [alone] = quality_of([row("Peru", "Is Peru old?")], {}).power
    assert (alone.smallest_gap_sd, alone.reason) == (None, "the suite has one concept only")


def test_what_prompts_take_for_granted_is_listed() -> None:
    rows = [row("Peru", "Who owns the coast of Peru?"), row("Peru", "Is Peru's army large?", "b")]
    assert quality_of(rows, {}).presupposed == {"army large": 1, "coast": 1}
