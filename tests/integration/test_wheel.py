"""What others install is one top-level name, whatever packages of theirs are called."""

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
IMPORT_EVERYTHING = """
import importlib, pkgutil, sys
theirs, wheel, site_packages = sys.argv[1:]
sys.path[:0] = [theirs, wheel]
sys.path.append(site_packages)
import biaswatch, services, shared
for module in pkgutil.walk_packages(biaswatch.__path__, "biaswatch."):
    if not module.name.endswith("migrations.env"):  # alembic runs it
        importlib.import_module(module.name)
assert shared.THEIRS and services.THEIRS
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder a wheel was unpacked into."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-c", BUILD, str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    with zipfile.ZipFile(folder / built.stdout.split()[-1]) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


def test_a_wheel_installs_one_top_level_name(wheel: Path) -> None:
    names = {path.name for path in wheel.iterdir() if path.suffix != ".dist-info"}
    assert names == {"biaswatch"}


def test_every_module_of_a_wheel_imports_beside_packages_of_the_same_names(
    wheel: Path, tmp_path: Path
) -> None:
    for name in ("shared", "services"):
        (tmp_path / f"{name}.py").write_text("THEIRS = True\n")
    paths = [str(tmp_path), str(wheel), sysconfig.get_path("purelib")]
    # Isolated and without .pth files: the checkout must not lend its own folders.
    command = [sys.executable, "-I", "-S", "-c", IMPORT_EVERYTHING, *paths]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]


def test_the_files_beside_the_modules_are_in_the_wheel(wheel: Path) -> None:
    def beside(folder: Path) -> set[str]:
        files = (path for path in folder.rglob("*") if path.is_file())
        return {str(f.relative_to(folder)) for f in files if f.suffix not in (".py", ".pyc")}

    for name in ("services", "shared", "suites"):
        assert beside(wheel / "biaswatch" / name) == beside(ROOT / name)
