"""The settings of the recorder."""

from pydantic import Field

from biaswatch.shared.runtime.settings import Settings


class RecorderSettings(Settings):
    """The recorder's own settings, beside those of every service."""

    recorder_answer_files: str | None = None
    """Where answers of live systems and their measurements are written as files as they come (a
    folder, s3:// or gs://), instead of as rows; needs the extra `parquet`."""
    recorder_answers_a_file: int = Field(default=2000, ge=100, le=20_000)
    """The most records in one file, all of which are in memory; short answers bear more."""
    recorder_file_s: float = Field(default=5.0, ge=0, le=20)
    """How long a file waits for more records: they are acknowledged when it is written."""
    recorder_batch: int = Field(default=500, ge=1, le=1000)
    """The most records in one transaction; more cost memory and gain little."""
