"""Answers of a live system as `export` writes them, and the numbers of a diagnosis of them."""

import json
from pathlib import Path
from typing import Any

from biaswatch.exporting.answers import exported_rows, runs_named, write_rows
from biaswatch.local.client import GatewayClient
from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store
from tests.support.api import CheckedPublisher


async def export_of(store: Store, source: str, path: Path) -> int:
    """Write every answer of a live system to a file; return how many there are."""
    app = web_app(GatewaySettings(), store, CheckedPublisher())  # type: ignore[arg-type]
    async with web_server(app, "127.0.0.1", 0) as port:
        client = GatewayClient(f"http://127.0.0.1:{port}", None)
        try:
            runs = await runs_named(client, source, None)
            return await write_rows(exported_rows(client, runs), path)
        finally:
            await client.close()


def numbers(printed: str) -> dict[str, list[str]]:
    """Return every number of a diagnosis, whatever its columns are called."""
    names = {"feature", "dimension", "domain"}
    parts: dict[str, list[dict[str, Any]]] = json.loads(printed.replace('"groups.', '"'))
    return {
        part: sorted(
            json.dumps({n: v for n, v in row.items() if n not in names}, sort_keys=True)
            for row in parts[part]
        )
        for part in ("summary", "comparisons", "missingness", "overall", "disparity")
    }
