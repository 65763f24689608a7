"""Build the image of every service, or of those named, and say how large each is."""

import argparse
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tools.install import pip_settings
else:  # as a script, this finds its neighbour by its bare name
    from install import pip_settings

ROOT = Path(__file__).parents[1]
WHEELS = ROOT / "deploy" / "image" / "wheels"
# What the command line of the engine speaks, where the engine is older than its client.
PASSED_ON = {"index-url": "PIP_INDEX_URL", "extra-index-url": "PIP_EXTRA_INDEX_URL"}
MEGABYTE = 1_000_000


def buildable() -> list[str]:
    """Return every service that can be started."""
    return sorted(path.parent.name for path in (ROOT / "services").glob("*/app.py"))


def pip_configured() -> dict[str, str]:
    """Return what this machine tells pip."""
    pip = [sys.executable, "-m", "pip", "config", "list"]
    said = subprocess.run(pip, capture_output=True, text=True, check=False)
    return pip_settings(said.stdout)


def arguments(settings: dict[str, str]) -> list[str]:
    """Hand the machine's package index on to a build; folders of this machine are not there."""
    given = []
    for key, name in PASSED_ON.items():
        reachable = [url for url in settings.get(key, "").split() if not url.startswith("file:")]
        if reachable:
            given += ["--build-arg", f"{name}={' '.join(reachable)}"]
    return given


def lend_wheels(settings: dict[str, str], wanted: str) -> list[Path]:
    """Copy wheels that lie on this machine to where a build can see them; return the copies."""
    lent = []
    for folder in settings.get("find-links", "").replace("\\n", " ").split():
        there = Path(folder.removeprefix("file://")).glob(wanted)
        new = [wheel for wheel in there if not (WHEELS / wheel.name).exists()]
        lent += [Path(shutil.copy(wheel, WHEELS / wheel.name)) for wheel in new]
    return lent


def revision() -> str:
    """Return the commit the images are built from."""
    said = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return said.stdout.strip() or "unknown"


def build(service: str, tag: str, *more: str) -> None:
    """Build one image."""
    command = ["docker", "build", "--quiet", "--tag", tag, "--build-arg", f"SERVICE={service}"]
    command += ["--build-arg", f"REVISION={revision()}", *arguments(pip_configured()), *more, "."]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def compressed_bytes(tag: str) -> int:
    """Return the size of an image as a registry keeps it: gzip over its layers."""
    packer, packed = zlib.compressobj(6, wbits=31), 0
    with subprocess.Popen(["docker", "save", tag], stdout=subprocess.PIPE) as saved:
        assert saved.stdout is not None  # noqa: S101 - for the type checker: a pipe was asked for
        while piece := saved.stdout.read(1 << 20):
            packed += len(packer.compress(piece))
    return packed + len(packer.flush())


def build_arguments(asked: argparse.Namespace) -> list[str]:
    """Return what a build is told of the base image, torch and extras that were asked for."""
    given = {"BASE": asked.base, "EXTRAS": " ".join(asked.extras)}
    if asked.torch != "none":
        given |= {"TORCH": asked.torch, "TORCH_VERSION": asked.torch_version}
    return [word for name, value in given.items() if value for word in _argument(name, value)]


def tag_suffix(asked: argparse.Namespace) -> str:
    """Return what the tag of an image with torch or extras ends in: `-cuda`, `-parquet`."""
    chosen = [*([] if asked.torch == "none" else [asked.torch]), *asked.extras]
    return "".join(f"-{each}" for each in chosen)


def main() -> int:
    """Build, then print the sizes."""
    asked = _parser().parse_args()
    more, suffix = build_arguments(asked), tag_suffix(asked)
    lent: list[Path] = []
    if asked.torch == "cpu":
        lent = lend_wheels(pip_configured(), "torch-*+cpu-*.whl")
    try:
        for service in asked.services:
            tag = f"{asked.prefix}-{service}:{asked.version}{suffix}"
            build(service, tag, *more)
            print(tag if asked.no_sizes else f"{tag}{_size(tag)}", flush=True)
    finally:
        for wheel in lent:
            wheel.unlink()  # it would travel with every other build
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("services", nargs="*", default=buildable())
    parser.add_argument("--prefix", default="biaswatch")
    parser.add_argument("--version", default="dev")
    parser.add_argument("--torch", choices=["none", "cpu", "cuda"], default="none")
    parser.add_argument("--torch-version", help="instead of the locked one")
    parser.add_argument(
        "--extras", action="append", default=[], choices=["parquet"],
        help="parquet: for answers of live systems in files; the tag ends in -parquet",
    )  # fmt: skip
    parser.add_argument("--base", help="the base image, a Python 3.11 or newer")
    parser.add_argument("--no-sizes", action="store_true")
    return parser


def _argument(name: str, value: str) -> list[str]:
    return ["--build-arg", f"{name}={value}"]


def _size(tag: str) -> str:
    return f"  {compressed_bytes(tag) / MEGABYTE:.0f} MB compressed"


if __name__ == "__main__":
    os.environ.setdefault("DOCKER_BUILDKIT", "0")  # noqa: TID251 - no plug-in needed
    sys.exit(main())
