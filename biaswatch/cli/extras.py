"""Which extra brings a library that only some commands need."""

EXTRAS = {
    "apprise": "channels",
    "bm25s": "builder",
    "datasets": "datasets",
    "duckdb": "engines",
    "lxml": "builder",
    "matplotlib": "figures",
    "narwhals": "tables",
    "opentelemetry": "telemetry",
    "pandas": "tables",
    "pyarrow": "tables",
    "sentence_transformers": "models",
    "torch": "models",
    "transformers": "models",
}
"""By the name a library is imported by."""


def missing_library(name: str | None) -> str | None:
    """Return the sentence for a library that is not installed; None where no extra brings it."""
    library = (name or "").partition(".")[0]
    if (extra := EXTRAS.get(library)) is None:
        return None
    return (
        f"This needs {library}, which is not installed: install biaswatch with the extra `{extra}`"
        f' (pip install "biaswatch[{extra}]"; in a checkout, make extras).'
    )
