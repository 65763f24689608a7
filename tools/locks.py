"""Compile the locks: every version of every extra, with hashes and without addresses."""

import subprocess
import sys

UV = ".venv/bin/uv"
# One lock for all extras: every image runs what the tests ran. torch is resolved on its own, as it
# would hold back other packages.
EXTRAS_BY_LOCK = {"lock": ("dev", "datasets"), "models": ("models",)}


def compile_lock(lock: str, extras: tuple[str, ...], options: list[str]) -> None:
    """Write one lock; keep its versions unless the options upgrade."""
    command = [
        UV, "pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-header",
        "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "--python-version", "3.11",
        *(f"--extra={extra}" for extra in extras), "pyproject.toml", *options,
        "--output-file", f"requirements/{lock}.txt",
    ]  # fmt: skip
    subprocess.run(command, check=True)


def main(options: list[str]) -> None:
    """Compile every lock."""
    for lock, extras in EXTRAS_BY_LOCK.items():
        print(f"requirements/{lock}.txt", flush=True)
        compile_lock(lock, extras, options)


if __name__ == "__main__":
    main(sys.argv[1:])
