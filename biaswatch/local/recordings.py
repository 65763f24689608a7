"""Recorded answers: the command line keeps a copy where the platform on this machine reads them."""

import hashlib
import re
import shutil
from pathlib import Path
from tempfile import NamedTemporaryFile

from biaswatch.services.generator.settings import GeneratorSettings
from biaswatch.shared.errors import UsageError
from biaswatch.shared.runtime.settings import load_settings

KEPT = "recordings"
"""The folder within the state directory, and the only one whose files a generator here opens."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")


def recordings_folder(state_dir: Path) -> Path:
    """Return the folder of a platform on this machine, unless its generator names another."""
    return state_dir / KEPT


def kept_name(file: Path) -> str:
    """Keep a copy of a file of recorded answers; return the name by which a generator here has it.

    Raises
    ------
    UsageError
        It cannot be read or kept.
    """
    settings = load_settings(GeneratorSettings)
    if (own := settings.generator_recordings_dir) is not None:
        inside = file.resolve().is_relative_to(own.resolve())
        return str(file.resolve().relative_to(own.resolve()) if inside else file.absolute())
    folder = recordings_folder(settings.state_dir)
    try:
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        name = f"{_NOT_IN_NAMES.sub('-', file.stem)[:64]}-{digest[:12]}{file.suffix}"
        if not (folder / name).exists():
            _copy(file, folder / name)
    except OSError as error:
        raise UsageError(
            f"The recorded answers {file} cannot be copied to {folder} ({error.strerror})."
        ) from None
    return name


def _copy(file: Path, to: Path) -> None:
    """Copy in one step: whoever reads meanwhile never meets half a file."""
    to.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=to.parent, delete=False) as half, file.open("rb") as opened:
        shutil.copyfileobj(opened, half)
    Path(half.name).replace(to)
