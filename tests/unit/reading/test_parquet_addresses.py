"""Addresses of Parquet files in object stores."""

import pyarrow.fs
import pytest

from biaswatch.shared.errors import UsageError
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
