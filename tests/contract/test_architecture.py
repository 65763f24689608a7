"""The product keeps its own rules where no linter can see them."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [p for part in ("biaswatch", "shared", "services") for p in (ROOT / part).rglob("*.py")]
HEAVY = ("fastapi", "openai", "anthropic", "torch", "pandas", "scipy", "transformers")
SLOW = ("scipy.stats", "scipy.optimize", "psycopg", "statsmodels")


def test_no_other_distribution_ships_a_package_of_our_names() -> None:
    owners = packages_distributions()
    for name in ("biaswatch", "shared", "services"):
        assert set(owners.get(name, [])) <= {"biaswatch"}


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("biaswatch.shared.contracts", (*HEAVY, "nats", "sqlalchemy")),
        ("biaswatch.shared.bus.worker", (*HEAVY, "nats", "sqlalchemy")),
        ("biaswatch.services.recorder.app", HEAVY),
        ("biaswatch.services.notifier.app", (*HEAVY, "numpy")),
        ("biaswatch.services.extractor.app", (*HEAVY, "numpy")),
        ("biaswatch.services.evaluator.app", (*HEAVY, "numpy")),
        ("biaswatch.services.gateway.app", SLOW),
        ("biaswatch.diagnosis.diagnosis", SLOW),
        ("biaswatch.local.runs", (*SLOW, "fastapi", "sqlalchemy", "nats")),
        ("biaswatch.cli.application", HEAVY),
    ],
)
def test_importing_a_part_loads_nothing_heavy(module: str, forbidden: tuple[str, ...]) -> None:
    program = f"import sys, {module}; print(*[m for m in {forbidden!r} if m in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == ""


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_is_a_small_room_with_one_sentence_over_the_door(path: Path) -> None:
    lines = path.read_text().splitlines()
    if "versions" not in path.parts:  # a migration lists all tables
        assert len(lines) <= 350
    assert lines[0].startswith('"""')
    assert lines[0].rstrip('"').endswith((".", ":")), "the first line is one whole sentence"


def test_no_room_has_a_name_that_says_nothing() -> None:
    empty = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}
    assert [p for p in SOURCES if empty & set(re.split(r"[_/.]", str(p.relative_to(ROOT))))] == []


@pytest.mark.parametrize("lock", ["lock", "models"])
def test_locks_hold_hashes_and_no_addresses(lock: str) -> None:
    text = (ROOT / "requirements" / f"{lock}.txt").read_text()
    entries = re.split(r"\n(?=\S)", text.strip())
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in text


def test_every_service_room_has_an_extra_of_its_own_and_its_paragraph() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    folders = sorted((ROOT / "services").glob("*/__init__.py"))
    assert len(folders) == 12
    for folder in folders:
        assert folder.parent.name in project["optional-dependencies"]
        assert re.search(r"Reads .* writes ", " ".join(folder.read_text().split()))


def test_every_decision_and_page_the_readme_names_is_there() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "docs" / "architecture.md"):
        for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} names {target}"


def test_every_file_that_contributing_names_exists() -> None:
    words = re.findall(r"`([^`\s<*$]+/[^`\s<*$]*)`", (ROOT / "CONTRIBUTING.md").read_text())
    folders = {path.name for path in ROOT.iterdir() if path.is_dir()} - {"build"}
    paths = [word for word in words if word.partition("/")[0] in folders]
    assert len(paths) > 40
    missing = [path for path in paths if not (ROOT / path).exists()]
    assert set(missing) <= {"deploy/secrets"}, "CONTRIBUTING.md names files that do not exist"


def test_every_make_target_is_named_in_contributing_or_the_readme() -> None:
    makefile = (ROOT / "Makefile").read_text()
    text = (ROOT / "README.md").read_text() + (ROOT / "CONTRIBUTING.md").read_text()
    for target in re.findall(r"^([a-z-]+):.*##", makefile, flags=re.MULTILINE):
        assert f"make {target}" in text, target


def test_migrations_of_the_store_follow_one_another() -> None:
    folder = ROOT / "shared" / "store" / "migrations" / "versions"
    result = [path.read_text() for path in sorted(folder.glob("r*.py"))]
    revisions = [re.findall(r'^revision = "(.*)"', text, re.MULTILINE) for text in result]
    after = [re.findall(r'^down_revision = "(.*)"', text, re.MULTILINE) for text in result]
    assert len(set(map(tuple, revisions))) == len(result)
    assert after[1:] == revisions[:-1]
