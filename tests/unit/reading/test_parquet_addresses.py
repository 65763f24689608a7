"""Addresses of Parquet files in object stores."""

import socket

import pyarrow.fs
import pytest

from biaswatch.shared.errors import TransientError, UsageError
from biaswatch.shared.parquet.filesystems import open_filesystem
from biaswatch.shared.parquet.folder import ParquetFolder


def test_an_address_of_another_server_is_a_bucket_and_a_path() -> None:
    address = "s3://lake/answers/2026?endpoint_override=127.0.0.1:9000&scheme=http&region=us-east-1"
    files, path = open_filesystem(address)
    assert isinstance(files, pyarrow.fs.S3FileSystem)
    assert (files.region, path) == ("us-east-1", "lake/answers/2026")


def test_an_unknown_option_is_refused_in_a_sentence() -> None:
    with pytest.raises(UsageError, match="s3:// addresses have no option 'regoin': use reg"):
        ParquetFolder("s3://lake/answers?regoin=us-east-1")


def test_a_file_whose_writing_fails_does_not_reach_the_object_store() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        endpoint = f"endpoint_override=127.0.0.1:{server.getsockname()[1]}"
        folder = ParquetFolder(f"s3://lake/answers?{endpoint}&scheme=http&region=us-east-1")
        with pytest.raises(LookupError):
            write_half(folder)
        server.setblocking(False)
        with pytest.raises(BlockingIOError):  # nothing has connected
            server.accept()


def test_an_object_store_that_is_away_is_named() -> None:
    endpoint = "endpoint_override=127.0.0.1:9&scheme=http&region=us-east-1"
    with pytest.raises(TransientError, match=r"^s3://lake/answers\?\S+ does not answer: "):
        ParquetFolder(f"s3://lake/answers?{endpoint}").check_available()


def write_half(folder: ParquetFolder) -> None:
    with folder.written("a.parquet") as stream:
        stream.write(b"the first part")
        raise LookupError
