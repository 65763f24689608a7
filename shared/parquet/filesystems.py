"""File systems of addresses, with bounded waits for a store that does not answer."""

from urllib.parse import parse_qsl, urlsplit

import pyarrow.fs

CONNECT_TIMEOUT_S, REQUEST_TIMEOUT_S = 5, 10
ATTEMPTS = 3
"""Requests of one operation; pyarrow's own default is 31, about 100 s."""
OPTIONS = ("region", "scheme", "endpoint_override")
SWITCHES = ("allow_bucket_creation", "allow_bucket_deletion")


def open_filesystem(
    uri: str, *, attempts: int = ATTEMPTS, request_s: float = REQUEST_TIMEOUT_S
) -> tuple[pyarrow.fs.FileSystem, str]:
    """Return the file system of an address, and the path in it.

    Parameters
    ----------
    uri
        A path, `file://`, `gs://`, or `s3://bucket/path?region=...`; another server's S3 has
        `endpoint_override=HOST:PORT` and `scheme=http`.
    attempts, request_s
        Bound the wait for an S3 server that does not answer.

    Raises
    ------
    ValueError
        An option of an S3 address is unknown.
    OSError, pyarrow.ArrowException
        The address cannot be opened.
    """
    parts = urlsplit(uri)
    if parts.scheme != "s3":
        files, path = pyarrow.fs.FileSystem.from_uri(uri)
        return files, str(path)
    extra = dict(parse_qsl(parts.query))
    options = {name: extra.pop(name) for name in OPTIONS if name in extra}
    switches = {name: extra.pop(name) == "true" for name in SWITCHES if name in extra}
    if extra:
        known = ", ".join((*OPTIONS, *SWITCHES))
        raise ValueError(f"s3:// addresses have no option {min(extra)!r}: use {known}")
    if not {"region", "endpoint_override"} & set(options):
        options["region"] = pyarrow.fs.resolve_s3_region(parts.netloc)
    files = pyarrow.fs.S3FileSystem(
        **options,
        **switches,
        connect_timeout=CONNECT_TIMEOUT_S,
        request_timeout=request_s,
        retry_strategy=pyarrow.fs.AwsStandardS3RetryStrategy(max_attempts=attempts),
    )
    return files, parts.netloc + parts.path
