"""The recorder's knobs."""

from pydantic import Field

from shared.runtime.settings import Settings


class RecorderSettings(Settings):
    """What can be set on the recorder, beyond what every service has."""

    recorder_batch: int = Field(default=256, ge=1, le=1000)
    """The most records in one transaction; more cost memory and gain little."""
