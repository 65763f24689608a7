"""The catalogue of methods names existing code and tests, and the page of statistics follows it."""

from importlib import import_module
from pathlib import Path

import pytest

from biaswatch.shared.stats.catalogue import CATALOGUE
from biaswatch.shared.stats.methods import CatalogueEntry
from tools.statistics_page import BLOCK, PAGES, rendered

ROOT = Path(__file__).parents[2]


def test_the_tables_of_the_pages_are_those_of_the_catalogue() -> None:
    pages = [page.read_text() for page in PAGES]
    assert [rendered(page) for page in pages] == pages, "run `make contracts`"
    sections = [match[2] for page in pages for match in BLOCK.finditer(page)]
    assert sorted(sections) == sorted({method.section for method in CATALOGUE})


@pytest.mark.parametrize("method", CATALOGUE, ids=lambda method: str(method.function))
def test_a_method_names_its_code_and_the_measurement_of_its_error(method: CatalogueEntry) -> None:
    module, name = method.function.rsplit(".", 1)
    assert hasattr(import_module(f"biaswatch.shared.stats.{module}"), name)
    assert (ROOT / method.calibration.split(",")[0]).exists()
