"""The builder's page says what the builder does."""

from pathlib import Path

import yaml

from biaswatch.building.plan import Inquiry, Keywords, Plan

PAGE = (Path(__file__).parents[2] / "docs" / "building-benchmarks.md").read_text()


def test_the_plan_on_the_page_is_one() -> None:
    plan = Plan.model_validate(yaml.safe_load(PAGE.split("```yaml\n")[1].split("```")[0]))
    assert plan.branching


def test_every_way_to_keywords_and_every_kind_is_on_the_page() -> None:
    for way in (*Keywords.model_fields, *Inquiry):
        assert way in PAGE
    for kind in ("files", "wikipedia", "url", "written", "continuations", "questions", "templates"):
        assert f"| `{kind}` |" in PAGE
