"""Files of published benchmarks: fetched once, and held to their checksums ever after."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from biaswatch.readers.downloads import download
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import read_text

CHECKSUMS = "checksums.json"
LARGEST_BYTES = 512 * 1024 * 1024


@dataclass(frozen=True)
class PublishedFile:
    """One file of a benchmark."""

    name: str
    """Local name."""
    url: str
    """Address of the authors' copy."""


def fetch_files(files: Sequence[PublishedFile], folder: Path, source: str = "") -> dict[str, bool]:
    """Fetch missing files; return True for each file that was downloaded.

    The authors publish no checksums, so those of the first download are stored beside the files;
    a file that changes later, locally or remotely, is refused. `source` is the address of a mirror
    that serves the files under their names.

    Raises
    ------
    TransientError
        The source does not answer.
    UsageError
        A file has changed or cannot be written.
    """
    known = _known(folder)
    fetched: dict[str, bool] = {}
    for file in files:
        path = folder / file.name
        fetched[file.name] = not path.exists()
        if not path.exists():
            url = f"{source.rstrip('/')}/{file.name}" if source else file.url
            _fetch(url, path, known.get(file.name))
        digest = _sha256(path)
        if known.setdefault(file.name, digest) != digest:
            raise _changed(path)
    _keep(known, folder)
    return fetched


def discard(names: Iterable[str], folder: Path) -> None:
    """Remove invalid files and their checksums."""
    known = _known(folder)
    for name in names:
        (folder / name).unlink(missing_ok=True)
        known.pop(name, None)
    _keep(known, folder)


def checked_files(files: Sequence[PublishedFile], folder: Path, name: str) -> dict[str, Path]:
    """Return the paths of a fetched benchmark; raise UsageError if one is missing or changed.

    A folder without checksums is the user's own and is not checked.
    """
    known = _known(folder)
    for file in files:
        path = folder / file.name
        if not path.exists():
            raise UsageError(f"{path} is missing. `biaswatch suites fetch {name}` downloads it.")
        if known.get(file.name, digest := _sha256(path)) != digest:
            raise _changed(path)
    return {file.name: folder / file.name for file in files}


def _fetch(url: str, path: Path, expected: str | None) -> None:
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        download(url, part, LARGEST_BYTES, hops=3)
        if expected is not None and _sha256(part) != expected:
            raise UsageError(f"{url} serves another file than before; nothing was replaced.")
        part.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}).") from None
    finally:
        part.unlink(missing_ok=True)


def _known(folder: Path) -> dict[str, str]:
    path = folder / CHECKSUMS
    if not path.exists():
        return {}
    try:
        return dict(json.loads(read_text(path, "checksums")))
    except UsageError:
        raise
    except (ValueError, TypeError):
        raise UsageError(f"{path} is not JSON. Remove the folder and fetch again.") from None


def _keep(known: dict[str, str], folder: Path) -> None:
    text = json.dumps(known, indent=1, sort_keys=True) + "\n"
    (folder / CHECKSUMS).write_text(text, encoding="utf-8")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _changed(path: Path) -> UsageError:
    return UsageError(
        f"{path} has changed since it was downloaded ({CHECKSUMS}). Remove it and fetch it again."
    )
