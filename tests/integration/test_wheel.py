"""A wheel installs one top-level name, whatever packages its users have."""

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("biaswatch", "shared", "services", "suites")
BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
IMPORT_EVERYTHING = """
import importlib, pkgutil, sys
theirs, wheel, site_packages = sys.argv[1:]
sys.path[:0] = [theirs, wheel]
sys.path.append(site_packages)
import biaswatch, services, shared
for module in pkgutil.walk_packages(biaswatch.__path__, "biaswatch."):
    if not module.name.endswith(("migrations.env", "inspect_tasks")):  # alembic and Inspect do
        importlib.import_module(module.name)
assert shared.THEIRS and services.THEIRS
"""
SECRET_FILES = (
    *("services/generator.seed", "shared/keys/operator.seed", "services/gateway/.env.local"),
    *("biaswatch/local/tls.key", "suites/tls.pem", "suites/store.db-wal", "shared/my-tokens.yaml"),
    *("services/gateway/tokens.yaml", "biaswatch/authorization.conf"),
    *("services/notifier/channels.yaml", "services/notifier/secrets/chat_url"),
    *("services/gateway/otlp-headers.yaml", "shared/store/.pgpass"),
)


def _unpacked_wheel(source: Path, folder: Path) -> Path:
    command = [sys.executable, "-c", BUILD, str(folder)]
    built = subprocess.run(command, cwd=source, capture_output=True, text=True, check=True)
    with zipfile.ZipFile(folder / built.stdout.split()[-1]) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


def _file_names(folder: Path) -> set[str]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {str(path.relative_to(folder)) for path in files}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an unpacked wheel."""
    return _unpacked_wheel(ROOT, tmp_path_factory.mktemp("wheel"))


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


def test_a_wheel_holds_every_file_of_the_source(wheel: Path) -> None:
    for name in ("services", "shared", "suites"):
        assert _file_names(wheel / "biaswatch" / name) == _file_names(ROOT / name)


def test_no_secret_file_beside_the_source_is_in_a_wheel(wheel: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name in FOLDERS:
        shutil.copytree(ROOT / name, source / name, symlinks=True)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in SECRET_FILES:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("planted")
    assert _file_names(_unpacked_wheel(source, tmp_path)) == _file_names(wheel)
