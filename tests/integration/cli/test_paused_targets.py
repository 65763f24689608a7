"""A target that refuses its key, in the whole platform: seen everywhere, resumed by a person."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from typer.testing import CliRunner

from biaswatch.cli.application import app
from biaswatch.local.client import GatewayClient
from biaswatch.local.connections import AddressFile, RunningPlatform
from biaswatch.local.platform import embedded_platform
from biaswatch.local.runs import check_not_refused
from biaswatch.shared.contracts import Suite
from biaswatch.shared.contracts.suite import SuiteProbe
from biaswatch.shared.contracts.waiting_calls import PausedTarget
from biaswatch.shared.errors import TransientError, UsageError
from biaswatch.shared.requests.run_views import RunState
from biaswatch.shared.requests.runs import RunRequest
from biaswatch.shared.runtime.settings import Settings, load_settings
from biaswatch.shared.runtime.threads import in_thread
from tests.support.model_server import model_server, replying
from tests.support.records import AT, make_progress
from tests.support.waiting import eventually

ANSWER = {"choices": [{"message": {"content": "Rating: 3"}, "finish_reason": "stop"}]}


class Locked:
    """A server that refuses one model's calls while it is locked."""

    locked = True

    def reply(self, body: Any) -> tuple[int, object]:
        if self.locked and body["model"] == "locked":
            return 401, {"error": {"message": "no"}}
        return 200, ANSWER


@pytest.fixture
def server() -> Iterator[tuple[Locked, str]]:
    locked = Locked()
    with model_server(replying(locked.reply)) as url:
        yield locked, url


@asynccontextmanager
async def platform(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RunningPlatform]:
    monkeypatch.setenv("BIASWATCH_STATE_DIR", str(folder))
    monkeypatch.setenv("BIASWATCH_GENERATOR_PAUSE_S", "3600")
    settings = load_settings(Settings)
    async with embedded_platform(settings) as here:
        address = AddressFile(settings.state_dir)
        address.write(here)
        yield here
        address.remove()


async def test_one_refused_key_pauses_one_target_until_it_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: tuple[Locked, str]
) -> None:
    locked, url = server
    probes = tuple(
        SuiteProbe(key=f"p{n}", prompt="Rate it.", groups={"g": "ab"[n % 2]}) for n in range(6)
    )
    suite = Suite(name="two", extractors=("rating",), probes=probes)
    refused = f"openai:locked@{url}"
    async with platform(tmp_path, monkeypatch) as here:
        client = GatewayClient(here.url)
        asked = RunRequest(
            suite_hash=await client.upload_suite(suite), targets=[refused, f"openai:m@{url}"]
        )
        run_id = (await client.start(asked)).run.id

        async def held() -> bool:
            progress = await client.progress(run_id)
            return progress.responses == 6 and len(progress.paused) == 1

        await eventually(held)
        progress = await client.progress(run_id)
        assert (progress.state, progress.held) == (RunState.RUNNING, 6)
        [paused] = await client.paused_targets()
        assert paused == progress.paused[0]
        assert "The target refused the key (HTTP 401)" in paused.in_words()
        for words in (["runs"], ["targets", "list"]):
            shown = await in_thread(CliRunner().invoke, app, words)
            assert f"{refused} is paused since" in shown.output
        async with httpx2.AsyncClient(base_url=here.url) as http:
            page = (await http.get(f"/runs/{run_id}")).text
            assert "refused the key (HTTP 401)" in page
        with pytest.raises(UsageError, match="No target of this name is paused"):
            await client.resume_target("openai:nobody")
        locked.locked = False
        resumed = await in_thread(CliRunner().invoke, app, ["targets", "resume", refused])
        assert resumed.exit_code == 0, resumed.output
        async for update in client.follow(run_id):
            progress = update
        assert (progress.state, progress.responses, progress.paused) == ("complete", 12, [])
        await client.close()


def test_a_run_is_left_once_nothing_but_targets_tried_in_vain_remains() -> None:
    given = {"lane": "a", "target": "openai:a", "why": "No.", "since": AT, "next_try_at": AT}
    tried = [PausedTarget.model_validate({**given, "refusals": n}) for n in (2, 3)]
    waiting = {"stand": "running", "probes": 10, "responses": 4}
    check_not_refused(make_progress(**waiting, held=6, paused=[tried[0]]))
    check_not_refused(make_progress(**waiting, held=5, paused=[tried[1]]))
    with pytest.raises(TransientError, match=r"6 of 10 answers .* targets resume 'openai:a'"):
        check_not_refused(make_progress(**waiting, held=6, paused=[tried[1]]))
