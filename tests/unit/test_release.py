"""A release is refused where its parts disagree or hold what nobody may publish."""

import shutil
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from tools.release import (
    CHARTS,
    NotReleasableError,
    check_versions,
    check_wheel,
    package_chart,
    package_site,
    write_sums,
)

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy" / "helm" / "biaswatch"
ABOUT = "biaswatch-9.9.dist-info"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in CHARTS:
        chart = tmp_path / "deploy" / "helm" / name
        chart.mkdir(parents=True)
        (chart / "Chart.yaml").write_text("version: 9.9\nappVersion: '9.9'\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 9.9 (unreleased)\n\n## 9.8\n")
    (tmp_path / "Dockerfile").write_text("FROM x\nARG VERSION=9.9\n")
    return tmp_path


def test_this_project_names_one_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    check_versions(version, ROOT)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("CHANGELOG.md", "## 9.8\n", r"CHANGELOG.md \(9.8\)"),
        ("CHANGELOG.md", "nothing", r"CHANGELOG.md \(None\)"),
        ("Dockerfile", "ARG VERSION=1\n", r"Dockerfile \(1\)"),
        ("deploy/helm/biaswatch/Chart.yaml", "version: 9.9\nappVersion: 1\n", "appVersion"),
        (
            "deploy/helm/biaswatch-cluster/Chart.yaml",
            "version: 1\nappVersion: 9.9\n",
            r"version in the Chart.yaml of biaswatch-cluster \(1\)",
        ),
    ],
)
def test_a_file_of_another_version_is_named(
    project: Path, file: str, text: str, message: str
) -> None:
    check_versions("9.9", project)
    (project / file).write_text(text)
    with pytest.raises(NotReleasableError, match=message):
        check_versions("9.9", project)


def wheel_of(folder: Path, files: dict[str, str], listed: dict[str, str] | None = None) -> Path:
    path = folder / "biaswatch-9.9-py3-none-any.whl"
    record = f"{ABOUT}/RECORD"
    rows = [f"{name},{(listed or {}).get(name, '')}," for name in [*files, record]]
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr(record, "\n".join(rows))
    return path


METADATA = "Version: 9.9\nDescription-Content-Type: text/markdown\n"
WHOLE = {"biaswatch/__init__.py": "x = 1\n", f"{ABOUT}/METADATA": METADATA}


def test_a_whole_wheel_passes(tmp_path: Path) -> None:
    check_wheel(wheel_of(tmp_path, WHOLE), "9.9")


@pytest.mark.parametrize(
    ("files", "listed", "message"),
    [
        ({**WHOLE, "shared/x.py": ""}, {}, "installs .*shared"),
        ({**WHOLE, "biaswatch/gateway.seed": "SU..."}, {}, "gateway.seed"),
        ({**WHOLE, f"{ABOUT}/METADATA": "Version: 9.8\n"}, {}, "lack `Version: 9.9`"),
        (WHOLE, {"biaswatch/__init__.py": "sha256=AAAA"}, "not what its RECORD says"),
    ],
)
def test_a_wheel_that_is_not_whole_is_refused(
    tmp_path: Path, files: dict[str, str], listed: dict[str, str], message: str
) -> None:
    with pytest.raises(NotReleasableError, match=message):
        check_wheel(wheel_of(tmp_path, files, listed), "9.9")


def test_the_chart_is_packaged_with_the_same_bytes_and_without_secrets(tmp_path: Path) -> None:
    chart = tmp_path / "copied" / "biaswatch"
    shutil.copytree(CHART, chart)
    (chart / "gateway.seed").write_text("SU...")
    version = (chart / "Chart.yaml").read_text().partition("\nversion: ")[2].split()[0]
    for name in ("a.tgz", "b.tgz"):
        package_chart(chart, tmp_path / name, version)
    assert (tmp_path / "a.tgz").read_bytes() == (tmp_path / "b.tgz").read_bytes()
    with tarfile.open(tmp_path / "a.tgz") as archive:
        names = archive.getnames()
    assert "biaswatch/Chart.yaml" in names
    assert not any(name.endswith(".seed") for name in names)
    with pytest.raises(NotReleasableError, match="of this version"):
        package_chart(chart, tmp_path / "c.tgz", "9.9")


def test_a_site_that_is_not_built_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotReleasableError, match="the site is not built"):
        package_site(tmp_path, tmp_path / "site.tar.gz")


def test_sums_are_those_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    write_sums(tmp_path)
    checked = subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=tmp_path)
    assert checked.returncode == 0
