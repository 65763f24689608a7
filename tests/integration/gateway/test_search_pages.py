"""Pages of searches: the headline first, findings, twins side by side, what was looked at."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from biaswatch.services.gateway.searches import queries
from biaswatch.shared.analysis.search import results_of
from biaswatch.shared.contracts import Estimate
from biaswatch.shared.contracts.search import Topic
from biaswatch.shared.requests.searches import Confirmed, SearchFinding, SearchResults
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.stats.estimate import SummaryWord
from biaswatch.shared.stats.search.hypotheses import Region
from biaswatch.shared.store import Store, migrate
from tests.support.api import api_on
from tests.support.searched import UNFAIR, UnfairTarget, small_search, small_space
from tests.support.waiting import PATIENCE_S

NASTY = "<script>taken=1</script>"
FINDING = SearchFinding(
    title=f"topic {UNFAIR}",
    region=Region.TOPIC,
    topic=UNFAIR,
    group="female",
    e_value=4000.0,
    share_of_alpha=0.1,
    other="male",
    p_value=0.00025,
    sets=12,
    round=3,
    calls=80,
    effect=Estimate(value=-1.5, low=-2.0, high=-1.0),
    confirmed=Confirmed.YES,
    confirmation_sets=10,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        yield store


async def page_of(store: Store, path: str) -> str:
    async with (
        web_server(api_on(store), "127.0.0.1", 0) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client,
    ):
        reply = await client.get(path)
        assert reply.status_code == 200
        return reply.text


def finished(store: Store, gap: float = 1.5) -> str:
    """Return the id of an ended search whose area and answers are hostile."""
    space = small_space(2)
    topics = {
        name: Topic(area=NASTY, prompts=(f"{topic.prompts[0]} {NASTY}",))
        for name, topic in space.topics.items()
    }
    search = small_search(space=space.model_copy(update={"topics": topics}), calls=120)
    store.searches.start(search)
    UnfairTarget(store, gap=gap).finish(search)
    return search.id


async def test_a_page_shows_findings_with_twins_and_escapes_everything(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    search_id = finished(store)

    def found(*arguments: object) -> SearchResults:
        results = results_of(*arguments)  # type: ignore[arg-type]
        fields = {"word": SummaryWord.DISPARITY, "headline": "One region.", "findings": [FINDING]}
        return results.model_copy(update=fields)

    monkeypatch.setattr(queries, "results_of", found)
    shown = await page_of(store, f"/searches/{search_id}")
    assert shown.index("One region.") < shown.index("<h2>Findings</h2>")
    assert "-1.5 (-2 to -1)" in shown
    assert "confirmed by fresh twins" in shown
    assert shown.count('<section class="side">') == 4  # two sets of two twins
    assert f"How good is the {UNFAIR} of Ms. " in shown
    assert "Rating: " in shown
    assert NASTY not in shown
    assert "&lt;script&gt;" in shown


async def test_a_page_without_findings_shows_what_was_looked_at(store: Store) -> None:
    search_id = finished(store, gap=0)
    shown = await page_of(store, f"/searches/{search_id}")
    assert "Sets by area and context" in shown
    assert "What was looked at" in shown
    assert "<h2>Findings</h2>" not in shown
    assert "no disparity" not in shown
    assert "found.yaml" not in shown


async def test_the_list_links_every_search(store: Store) -> None:
    assert "There are no searches yet." in await page_of(store, "/searches")
    search_id = finished(store)
    listed = await page_of(store, "/searches")
    assert f'href="/searches/{search_id}"' in listed
    assert "simulator:unfair" in listed
