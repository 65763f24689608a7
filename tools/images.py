"""Build the images of services, all by default, and print their sizes."""

import argparse
import os
import shutil
import subprocess
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path

from tools.install import configured_pip

ROOT = Path(__file__).parents[1]
WHEELS = ROOT / "deploy" / "image" / "wheels"
# pip's settings that a build gets as arguments.
PASSED_ON = {"index-url": "PIP_INDEX_URL", "extra-index-url": "PIP_EXTRA_INDEX_URL"}
MEGABYTE = 1_000_000


def buildable() -> list[str]:
    """Return every service that can be started."""
    return sorted(path.parent.name for path in (ROOT / "services").glob("*/app.py"))


def index_arguments(settings: dict[str, str]) -> list[str]:
    """Return arguments with the machine's package index; a build cannot read local folders."""
    words = []
    for key, name in PASSED_ON.items():
        reachable = [url for url in settings.get(key, "").split() if not url.startswith("file:")]
        if reachable:
            words += ["--build-arg", f"{name}={' '.join(reachable)}"]
    return words


def copy_wheels(settings: dict[str, str], wanted: str) -> list[Path]:
    """Copy wheels of this machine into the context of builds; return the copies."""
    copies = []
    for folder in settings.get("find-links", "").replace("\\n", " ").split():
        wheels = Path(folder.removeprefix("file://")).glob(wanted)
        new = [wheel for wheel in wheels if not (WHEELS / wheel.name).exists()]
        copies += [Path(shutil.copy(wheel, WHEELS / wheel.name)) for wheel in new]
    return copies


def revision() -> str:
    """Return the commit of this checkout."""
    done = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def commit_time() -> str:
    """Return the time of this checkout's commit, in seconds of the epoch; 0 without git."""
    done = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "0"


def archive_options(folder: Path, service: str, suffix: str) -> list[str]:
    """Return options for an OCI archive in which every time is that of the commit.

    BuildKit's attestations hold times of their own, so they are made when an image is published.
    """
    path = folder / f"biaswatch-{service}{suffix}.oci.tar"
    output = f"type=oci,dest={path},rewrite-timestamp=true"
    time = f"SOURCE_DATE_EPOCH={commit_time()}"
    return ["--output", output, "--provenance=false", "--sbom=false", "--build-arg", time]


def build(service: str, tag: str, *more: str, verb: Sequence[str] = ("build",)) -> None:
    """Build an image."""
    command = ["docker", *verb, "--quiet", "--tag", tag, "--build-arg", f"SERVICE={service}"]
    command += [
        "--build-arg",
        f"REVISION={revision()}",
        *index_arguments(configured_pip(sys.executable)),
        *more,
        ".",
    ]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def compressed_bytes(tag: str) -> int:
    """Return the size of an image as a registry keeps it: gzip over its layers."""
    packer, packed = zlib.compressobj(6, wbits=31), 0
    with subprocess.Popen(["docker", "save", tag], stdout=subprocess.PIPE) as saved:
        assert saved.stdout is not None  # noqa: S101 - for the type checker: stdout is a pipe
        while piece := saved.stdout.read(1 << 20):
            packed += len(packer.compress(piece))
    return packed + len(packer.flush())


def build_arguments(options: argparse.Namespace) -> list[str]:
    """Return the arguments of a build: base image, torch and extras."""
    values = {"BASE": options.base, "EXTRAS": " ".join(options.extras)}
    if options.torch != "none":
        values |= {"TORCH": options.torch, "TORCH_VERSION": options.torch_version}
    return [
        word
        for name, value in values.items()
        if value
        for word in ("--build-arg", f"{name}={value}")
    ]


def tag_suffix(options: argparse.Namespace) -> str:
    """Return the end of the tag of an image with torch or extras: `-cuda`, `-parquet`."""
    chosen = [*([] if options.torch == "none" else [options.torch]), *options.extras]
    return "".join(f"-{name}" for name in chosen)


def main() -> int:
    """Build, then print the sizes."""
    options = _parser().parse_args()
    more, suffix = build_arguments(options), tag_suffix(options)
    copies: list[Path] = []
    if options.torch == "cpu":
        copies = copy_wheels(configured_pip(sys.executable), "torch-*+cpu-*.whl")
    try:
        for service in options.services:
            tag = f"{options.prefix}-{service}:{options.version}{suffix}"
            if options.oci:
                options.oci.mkdir(parents=True, exist_ok=True)
                archive = archive_options(options.oci, service, suffix)
                build(service, tag, *more, *archive, verb=("buildx", "build"))
            else:
                build(service, tag, *more)
            if not options.no_sizes and not options.oci:
                tag += f"  {compressed_bytes(tag) / MEGABYTE:.0f} MB compressed"
            print(tag, flush=True)
    finally:
        for wheel in copies:
            wheel.unlink()  # it would be in the context of every other build
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
    parser.add_argument(
        "--oci", type=Path,
        help="folder for OCI archives, the same bytes for the same commit (docker buildx)",
    )  # fmt: skip
    parser.add_argument("--no-sizes", action="store_true")
    return parser


if __name__ == "__main__":
    os.environ.setdefault("DOCKER_BUILDKIT", "0")  # noqa: TID251 - no plug-in needed
    sys.exit(main())
