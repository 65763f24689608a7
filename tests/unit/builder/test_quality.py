import sys
from pathlib import Path
from typing import Any

import pytest

from services.builder.domain.quality import quality_of
from services.builder.handlers.quality_figure import draw_quality
from shared.errors import UsageError

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
    other = row("Chile", two["prompt"], "c")
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
