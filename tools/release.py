"""Build and check the parts of a release in build/release; publish nothing.

`make release` builds the site first. Images are built where a container engine answers.
"""

import base64
import csv
import gzip
import hashlib
import io
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
import zipfile
from fnmatch import fnmatch
from pathlib import Path, PurePath, PurePosixPath

import yaml

ROOT = Path(__file__).parents[1]
OUT, SITE = ROOT / "build" / "release", ROOT / "build" / "site"
CHARTS = ("biaswatch", "biaswatch-cluster")
LICENCE = ROOT / "LICENSE"
BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
TRY = """
import sys
sys.path[:0] = [sys.argv[1]]
sys.path.append(sys.argv[2])
sys.argv = ["biaswatch", *sys.argv[3:]]
from biaswatch.main import main
main()
"""
PRIVATE = ("*.seed", "*.key", "*.pem", ".env*", "*.db", "*token*.yaml", "*.pyc")
"""Files that must not be published."""
UNDECIDED = "is not chosen yet"
"""Part of LICENSE until its owner chooses one."""


class NotReleasableError(Exception):
    """A part of the release is missing or wrong."""


def main() -> int:
    """Build and check every part; print their sizes, and which were left out and why."""
    version = str(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"])
    try:
        check_versions(version, ROOT)
        shutil.rmtree(OUT, ignore_errors=True)
        OUT.mkdir(parents=True)
        wheel = built_wheel(OUT)
        check_wheel(wheel, version)
        try_wheel(wheel)
        for name in CHARTS:
            chart = ROOT / "deploy" / "helm" / name
            package_chart(chart, OUT / f"{name}-{version}.tgz", version)
        package_site(SITE, OUT / f"biaswatch-site-{version}.tar.gz")
    except NotReleasableError as error:
        sys.exit(f"Nothing to release: {error}")
    images = built_images(version)
    write_sums(OUT)
    for path in sorted(OUT.iterdir()):
        print(f"{path.stat().st_size / 1e6:7.2f} MB  {path.relative_to(ROOT)}")
    print(images)
    if UNDECIDED in LICENCE.read_text():
        print("No licence is chosen: until LICENSE has one, others may not use this release.")
    print(f"biaswatch {version} is built and checked. Nothing was published.")
    return 0


def check_versions(version: str, root: Path) -> None:
    """Raise NotReleasableError where a file names another version than the project's."""
    charts = {
        name: yaml.safe_load((root / "deploy" / "helm" / name / "Chart.yaml").read_text())
        for name in CHARTS
    }
    section = re.search(r"^## (\S+)", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    dockerfile = re.search(r"^ARG VERSION=(\S+)", (root / "Dockerfile").read_text(), re.MULTILINE)
    named = {
        "the first section of CHANGELOG.md": section and section[1],
        **{
            f"{field} in the Chart.yaml of {name}": str(chart[field])
            for name, chart in charts.items()
            for field in ("version", "appVersion")
        },
        "VERSION in the Dockerfile": dockerfile and dockerfile[1],
    }
    if wrong := [f"{where} ({name})" for where, name in named.items() if name != version]:
        raise NotReleasableError(
            f"pyproject.toml says version {version}, but not so {', '.join(wrong)}."
        )


def built_wheel(folder: Path) -> Path:
    """Build the wheel; nothing is downloaded for it."""
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(folder)], cwd=ROOT, capture_output=True, text=True
    )
    if done.returncode:
        raise NotReleasableError(f"the wheel cannot be built: {done.stderr.strip()[-500:]}")
    return folder / done.stdout.split()[-1]


def check_wheel(wheel: Path, version: str) -> None:
    """Raise NotReleasableError where a wheel is incomplete or has private files."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        about = f"biaswatch-{version}.dist-info"
        top = {PurePosixPath(name).parts[0] for name in names}
        if top != {"biaswatch", about}:
            raise NotReleasableError(f"the wheel installs {', '.join(sorted(top))}.")
        if bad := [name for name in names if _private(PurePosixPath(name))]:
            raise NotReleasableError(f"the wheel has private files: {', '.join(bad)}.")
        metadata = archive.read(f"{about}/METADATA").decode()
        for line in (f"Version: {version}", "Description-Content-Type: text/markdown"):
            if line not in metadata:
                raise NotReleasableError(f"the wheel's metadata lack `{line}`.")
        rows = list(csv.reader(io.StringIO(archive.read(f"{about}/RECORD").decode())))
        for name, digest, _ in rows:
            actual = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest())
            if digest and digest != f"sha256={actual.decode().rstrip('=')}":
                raise NotReleasableError(f"the wheel's {name} is not what its RECORD says.")
        if {name for name, *_ in rows} != set(names):
            raise NotReleasableError("the wheel's RECORD does not list its files.")


def try_wheel(wheel: Path) -> None:
    """Run the wheel's command line with its libraries, without this checkout."""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)  # noqa: S202 - just built
        start = [sys.executable, "-I", "-S", "-c", TRY, folder, sysconfig.get_path("purelib")]
        for words in (["--version"], ["table", "10", "40", "25", "25"]):
            ran = subprocess.run([*start, *words], cwd=folder, capture_output=True, text=True)
            if ran.returncode:
                raise NotReleasableError(
                    f"`biaswatch {' '.join(words)}` of the wheel fails: {ran.stderr.strip()[-500:]}"
                )


def package_chart(chart: Path, path: Path, version: str) -> None:
    """Write the chart as Helm packages it; the same chart gives the same bytes."""
    _write_archive(path, chart.name, chart)
    with tarfile.open(path) as archive:
        about = archive.extractfile(f"{chart.name}/Chart.yaml")
        if about is None or str(yaml.safe_load(about)["version"]) != version:
            raise NotReleasableError("the packaged chart has no Chart.yaml of this version.")
    if shutil.which("helm"):
        linted = subprocess.run(["helm", "lint", str(path)], capture_output=True, text=True)
        if linted.returncode:
            raise NotReleasableError(f"helm finds fault with the chart: {linted.stdout.strip()}")


def package_site(site: Path, path: Path) -> None:
    """Write the built site as one archive."""
    if not (site / "index.html").exists() or not (site / "search.html").exists():
        raise NotReleasableError("the site is not built: `make release` builds it first.")
    _write_archive(path, "biaswatch-site", site)


def built_images(version: str) -> str:
    """Build the images where a container engine answers; return a sentence about them."""
    engine = shutil.which("docker")
    if engine is None or subprocess.run([engine, "info"], capture_output=True).returncode:
        return "Images are left out: no container engine answers here."
    build = [sys.executable, "-m", "tools.images", "--version", version]
    if subprocess.run(build, cwd=ROOT).returncode:
        sys.exit("Nothing to release: an image cannot be built.")
    return f"The image of every service is built: biaswatch-SERVICE:{version}."


def write_sums(folder: Path) -> None:
    """Write the SHA-256 of every file, as `sha256sum --check` reads it."""
    files = sorted(path for path in folder.iterdir() if path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / "SHA256SUMS").write_text("".join(lines))


def _private(path: PurePath) -> bool:
    return any(fnmatch(path.name, pattern) for pattern in PRIVATE) or "__pycache__" in path.parts


def _write_archive(path: Path, name: str, folder: Path) -> None:
    """Write the files of a folder below a name, without times, owners or rights."""
    files = sorted(file for file in folder.rglob("*") if file.is_file() and not _private(file))
    with (
        path.open("wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for file in files:
            entry = tarfile.TarInfo(f"{name}/{file.relative_to(folder)}")
            entry.size, entry.mode = file.stat().st_size, 0o644
            with file.open("rb") as content:
                archive.addfile(entry, content)


if __name__ == "__main__":
    sys.exit(main())
