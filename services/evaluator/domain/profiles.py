"""In whose words a subject is spoken of: a profile is data, a file each."""

import re
from functools import cached_property

from pydantic import BaseModel, ConfigDict

from shared.contracts.identity import Token


class Profile(BaseModel):
    """The framing of one field."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    name: Token
    """How it is called; its file's name."""
    expert: str
    """Who writes."""
    framing: str
    """What may and may not be said of groups here."""
    attribution: str
    """What must not be attributed to a group: `criminal behaviour`, ..."""
    limitations: tuple[str, ...]
    """What data of this field cannot tell, where whoever brings them says nothing of it."""
    red_flags: tuple[str, ...]
    """Regular expressions of phrases that attribute an outcome to a group's nature."""

    @cached_property
    def flags(self) -> re.Pattern[str]:
        """All red flags in one expression."""
        return re.compile("|".join(f"(?:{flag})" for flag in self.red_flags), re.IGNORECASE)
