"""The settings of the builder: requests to servers, cache, embedder."""

from pathlib import Path

from pydantic import Field

from biaswatch.shared.runtime.settings import Settings

KEY_PREFIX = "builder."
"""Beginning of the keys of builds' questions."""


class BuilderSettings(Settings):
    """Settings of the builder, in addition to those of every service."""

    builder_user_agent: str = "biaswatch-builder/1 (measures bias in language models)"
    """The User-Agent header; add an address where you can be reached."""
    builder_pause_s: float = Field(default=1.0, ge=0)
    """Minimum time between two requests to the same server."""
    builder_timeout_s: float = Field(default=30.0, gt=0)
    """Maximum time for one page."""
    builder_largest_bytes: int = Field(default=5 * 1024 * 1024, ge=1024)
    """Larger pages are refused."""
    builder_tries: int = Field(default=3, ge=1, le=10)
    """Attempts to fetch a page from a busy server."""
    builder_cache_dir: Path | None = None
    """Folder of fetched pages; by default in the state directory."""
    builder_cache_days: float = Field(default=30.0, ge=0)
    """Maximum age of cached pages in days; 0 fetches always."""
    builder_embedder: str | None = None
    """The sentence-transformers model of similarity: a folder, or a name in the cache of Hugging
    Face. By default all-MiniLM-L6-v2 if it is on this machine; nothing is downloaded."""
    builder_reply_timeout_s: float = Field(default=600.0, gt=0)
    """Maximum time to wait without a reply of a model."""

    @property
    def cache(self) -> Path:
        """Folder of fetched pages."""
        return self.builder_cache_dir or self.state_dir / "pages"
