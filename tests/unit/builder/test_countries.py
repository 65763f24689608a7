"""The shipped suite comes out of its plan, byte for byte."""

import asyncio
from collections import Counter
from pathlib import Path

from biaswatch.building.build_files import load_plan, write_suite
from biaswatch.building.composition import build_of
from biaswatch.building.settings import BuilderSettings
from biaswatch.readers.suites import load_suite

SHIPPED = Path(__file__).parents[3] / "suites" / "countries"


def test_the_shipped_suite_is_what_its_plan_gives(tmp_path: Path) -> None:
    plan = load_plan(SHIPPED / "plan.yaml")
    suite = asyncio.run(build_of(plan, SHIPPED, BuilderSettings())())
    for file in write_suite(suite, tmp_path):
        assert file.read_bytes() == (SHIPPED / file.name).read_bytes(), file.name


def test_the_shipped_suite_has_75_questions_about_each_of_21_concepts() -> None:
    suite = load_suite(SHIPPED)
    assert len(suite.probes) == 1575
    concepts = Counter(probe.groups["concept"] for probe in suite.probes)
    assert len(concepts) == 21
    assert set(concepts.values()) == {75}
    assert set(Counter(probe.set for probe in suite.probes).values()) == {21}


def test_no_twin_of_the_shipped_suite_speaks_of_the_invented_country() -> None:
    for probe in load_suite(SHIPPED).probes:
        if probe.groups["concept"] != "Velmora":
            assert "Velmor" not in f"{probe.prompt} {probe.baseline}"
            assert "Aldmere" not in f"{probe.prompt} {probe.baseline}"


def test_the_shipped_suite_says_that_no_model_was_asked() -> None:
    assert "no model was asked" in (SHIPPED / "suite.yaml").read_text()
