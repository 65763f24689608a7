"""A monitor's page shows what labels say beside its readings, and gives it as a file."""

import httpx2

from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store
from tests.support.bus import ProvisionedBus
from tests.support.labelled_rounds import LabelledPlatform
from tests.support.waiting import PATIENCE_S


async def test_the_page_and_the_file_have_the_gap_by_labels(
    bus: ProvisionedBus, store: Store
) -> None:
    local = LabelledPlatform(store)
    for number in range(2):
        local.label_round(number, gap=0.5)
    app = web_app(GatewaySettings(), store, bus.publisher)
    async with (
        web_server(app, "127.0.0.1", 0) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client,
    ):
        page = await client.get("/monitors/letters")
        assert page.status_code == 200, page.text
        assert "As labels of people correct it" in page.text
        assert "any false alarm by labels, ever, is at most 0.05" in page.text
        file = await client.get("/monitors/letters/labelled.csv")
        assert file.text.splitlines()[0].startswith("comparison,verdict by labels,gap by labels")
        alarms = await client.get("/monitors/letters/alarms")
        assert alarms.status_code == 200
