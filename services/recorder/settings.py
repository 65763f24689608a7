"""The settings of the recorder."""

from pydantic import Field

from biaswatch.shared.runtime.settings import Settings


class RecorderSettings(Settings):
    """Settings of the recorder, in addition to those of every service."""

    recorder_answer_files: str | None = None
    """Folder (or s3://, gs://) for answers of live systems and their measurements as files, instead
    of as rows; needs the extra `parquet`."""
    recorder_answers_a_file: int = Field(default=2000, ge=100, le=20_000)
    """Largest number of records in one file, which are in memory together."""
    recorder_file_s: float = Field(default=5.0, ge=0, le=20)
    """How long a file waits for more records, which are acknowledged when it is written."""
    recorder_batch: int = Field(default=500, ge=1, le=1000)
    """Largest number of records in one transaction; more take memory and gain little."""
