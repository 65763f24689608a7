"""The calibration of the three questions: its shapes, its judgement, and two of its cells."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from calibration.questions import comparators, designs
from calibration.questions.__main__ import main
from calibration.questions.shapes import SHAPES


def test_there_are_more_than_300_shapes_of_both_kinds() -> None:
    names = [shape.name for shape in SHAPES]
    assert len(names) == len(set(names)) >= 300
    assert {shape.question for shape in SHAPES} == {"same_treatment", "group_effect", "verdict"}
    judged = [shape for shape in SHAPES if not shape.limit]
    assert sum(shape.effect for shape in judged) == pytest.approx(len(judged) / 2, abs=3)


def test_a_null_that_no_test_can_tell_is_shown_and_misses_no_bar(tmp_path: Path) -> None:
    file = tmp_path / "table.md"
    name = "rare opposite effects: 8 names, 8 texts"
    assert main(["--only", name, "--studies", "40", "--output", str(file)]) == 0
    assert "unseen texts" in file.read_text()


@pytest.mark.parametrize("name", ["twins: ratings one apart, 8 sets", "templates: 5 x 50, SD 0.3"])
def test_cells_hold_in_few_studies(name: str, tmp_path: Path) -> None:
    file = tmp_path / "table.md"
    assert main(["--only", name, "--studies", "60", "--output", str(file)]) == 0
    assert file.read_text().count(f"| {name}") >= 2


def test_signed_ranks_are_those_of_scipy() -> None:
    differences = np.random.default_rng(1).normal(0.4, 1, 10)
    twins = np.stack([differences, np.zeros(10)], axis=1)[:, :, None]
    p_value = comparators.signed_ranks(twins, np.random.default_rng(0))
    assert p_value == pytest.approx(stats.wilcoxon(differences, method="exact").pvalue)


def test_comparators_of_random_factors_keep_the_level() -> None:
    rng = np.random.default_rng(2)
    for comparator in (comparators.quasi_f, comparators.two_way_t):
        drawn = (designs.crossed(rng, 5, 12, 0.2, 0.2, 0.0) for _ in range(200))
        assert np.mean([comparator(answers, rng) <= 0.05 for answers in drawn]) <= 0.104
