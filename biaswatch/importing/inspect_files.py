"""Samples in the zip archives of Inspect (`.eval`), bounded before they are read."""

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from biaswatch.shared.errors import UsageError
from biaswatch.shared.parsing.json_objects import MAX_LEVELS, is_too_deep, json_in

MIB = 1024 * 1024
LARGEST_SAMPLE_BYTES = 64 * MIB
LARGEST_ARCHIVE_BYTES = 8 * 1024 * MIB
"""Limit of all samples, unpacked."""
MAX_SAMPLES = 200_000
ZSTANDARD = 93
"""Compression method of ZIP that Inspect writes."""
HEADER_BYTES = 30
"""Local header of a member, before its name and extra field."""
CONVERT = "Write it as JSON: inspect log convert --to json"


def zipped_samples(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the location and fields of each sample.

    Raises
    ------
    UsageError
        The file is not an archive of Inspect, or exceeds a limit.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = [m for m in archive.infolist() if _is_sample(m.filename)]
            _check_sizes(path, members)
            created = _created(archive)
            for member in members:
                where = f"{path}, {member.filename}"
                yield where, {"created": created, **_sample(archive, member, where)}
    except NotImplementedError:
        raise UsageError(f"{path} is compressed in a way that cannot be read. {CONVERT}.") from None
    except (zipfile.BadZipFile, zlib.error, EOFError):
        raise UsageError(f"{path} is not a zip archive, or it is damaged. {CONVERT}.") from None
    except (OSError, RuntimeError) as error:  # such as an encrypted archive
        why = getattr(error, "strerror", None) or "it is encrypted"
        raise UsageError(f"The answers {path} cannot be read ({why}).") from None


def _is_sample(name: str) -> bool:
    return name.startswith("samples/") and name.endswith(".json")


def _check_sizes(path: Path, members: list[zipfile.ZipInfo]) -> None:
    if not members:
        raise UsageError(f"{path} has no samples. Is it a log of Inspect?")
    if len(members) > MAX_SAMPLES:
        raise UsageError(f"{path} has more than {MAX_SAMPLES:,} samples. {CONVERT}.")
    if sum(member.file_size for member in members) > LARGEST_ARCHIVE_BYTES:
        limit_mib = LARGEST_ARCHIVE_BYTES // MIB
        raise UsageError(f"The samples of {path} have more than {limit_mib} MiB.")


def _sample(archive: zipfile.ZipFile, member: zipfile.ZipInfo, where: str) -> dict[str, Any]:
    sample = _json(archive, member, where)
    if not isinstance(sample, dict) or is_too_deep(sample):
        levels = f"an object of at most {MAX_LEVELS} levels"
        raise UsageError(f"{where}: a sample must be {levels}.")
    return sample


def _created(archive: zipfile.ZipFile) -> Any:
    """Return the time of the log, which samples without one have."""
    for member in archive.infolist():
        if member.filename == "header.json":
            header = _json(archive, member, f"{archive.filename}, {member.filename}")
            log = header.get("eval") if isinstance(header, dict) else None
            return log.get("created") if isinstance(log, dict) else None
    return None


def _bytes(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return the content of a member, or one byte more than the limit."""
    if member.compress_type == ZSTANDARD and not hasattr(zipfile, "ZIP_ZSTANDARD"):
        return _zstandard(archive, member)
    with archive.open(member) as file:
        return file.read(LARGEST_SAMPLE_BYTES + 1)


def _zstandard(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return the content of a member with Zstandard, as `zipfile` does from Python 3.14."""
    from biaswatch.readers.parquet_files import zstandard_bytes

    if member.compress_size > LARGEST_SAMPLE_BYTES or archive.fp is None:
        return bytes(LARGEST_SAMPLE_BYTES + 1)
    archive.fp.seek(member.header_offset)
    header = archive.fp.read(HEADER_BYTES)
    if len(header) < HEADER_BYTES or header[:4] != b"PK\x03\x04":
        raise zipfile.BadZipFile
    archive.fp.seek(sum(struct.unpack("<HH", header[-4:])), os.SEEK_CUR)
    try:
        data = zstandard_bytes(archive.fp.read(member.compress_size), LARGEST_SAMPLE_BYTES + 1)
    except OSError:
        raise zipfile.BadZipFile from None
    if len(data) <= LARGEST_SAMPLE_BYTES and zlib.crc32(data) != member.CRC:
        raise zipfile.BadZipFile
    return data


def _json(archive: zipfile.ZipFile, member: zipfile.ZipInfo, where: str) -> Any:
    data = _bytes(archive, member)
    if len(data) > LARGEST_SAMPLE_BYTES:
        raise UsageError(f"{where}: a sample holds at most {LARGEST_SAMPLE_BYTES // MIB} MiB.")
    try:
        return json_in(data.decode())
    except ValueError:
        raise UsageError(f"{where}: this is not JSON.") from None
