"""The settings of the recorder."""

from pydantic import Field

from shared.runtime.settings import Settings


class RecorderSettings(Settings):
    """The recorder's own settings, beside those of every service."""

    recorder_batch: int = Field(default=500, ge=1, le=1000)
    """The most records in one transaction; more cost memory and gain little."""
