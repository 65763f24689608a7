"""The builder's settings: how it behaves towards the servers it reads from."""

from pathlib import Path

from pydantic import Field

from biaswatch.shared.runtime.settings import Settings

KEY_PREFIX = "builder."
"""Beginning of the keys of builds' questions."""


class BuilderSettings(Settings):
    """What can be set on the builder, beyond what every service has."""

    builder_user_agent: str = "biaswatch-builder/1 (measures bias in language models)"
    """How it introduces itself; add an address where you can be reached."""
    builder_pause_s: float = Field(default=1.0, ge=0)
    """The least time between two requests to the same server."""
    builder_timeout_s: float = Field(default=30.0, gt=0)
    """How long one page may take as a whole."""
    builder_largest_bytes: int = Field(default=5 * 1024 * 1024, ge=1024)
    """Larger pages are refused."""
    builder_tries: int = Field(default=3, ge=1, le=10)
    """How often a page is asked for while its server is busy."""
    builder_cache_dir: Path | None = None
    """Where fetched pages are kept; without it, in the state directory."""
    builder_cache_days: float = Field(default=30.0, ge=0)
    """How long a kept page is used before it is fetched again; 0 fetches always."""
    builder_embedder: str | None = None
    """The sentence-transformers model that judges nearness: a folder, or a name in the cache of
    Hugging Face. Without it, all-MiniLM-L6-v2 if it is on this machine; nothing is downloaded."""
    builder_slots: int = Field(default=16, ge=1, le=1000)
    """Replies that are written down at once."""
    builder_reply_timeout_s: float = Field(default=600.0, gt=0)
    """How long the builder waits without any reply of a model coming in."""

    @property
    def cache(self) -> Path:
        """Where fetched pages are kept."""
        return self.builder_cache_dir or self.state_dir / "pages"
