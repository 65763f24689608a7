"""A service's life: comes up, tells how it is, stops in the right order."""

import asyncio
import errno
import json
import os
import signal
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest

from biaswatch.shared.bus import stage as stage_module
from biaswatch.shared.bus.dead_letters import dead_letters
from biaswatch.shared.bus.jetstream import Connection
from biaswatch.shared.bus.jetstream import connection as bus_connection
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import Features, Response
from biaswatch.shared.errors import ArchivedError, ConfigurationError, TransientError
from biaswatch.shared.runtime import health
from biaswatch.shared.runtime.health import HealthServer, ServiceHealth
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.service import Service, StageHost
from biaswatch.shared.runtime.settings import Settings
from tests.support.bus import ProvisionedBus, ReceivedRecords
from tests.support.records import make_response
from tests.support.waiting import PATIENCE_S, eventually


def settings_for(bus: ProvisionedBus, **more: object) -> Settings:
    given = {"nats_url": bus.server.url, "health_host": "127.0.0.1", "health_port": 0}
    return Settings.model_validate({**given, **more})


@asynccontextmanager
async def running(service: Service) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(service.run())
    await service.started.wait()
    try:
        yield task
    finally:
        service.stop()
        await task


async def fetch(service: Service, path: str) -> tuple[int, str]:
    """Ask the service's health port, from a thread, as a probe would."""
    assert service.health_port

    def get() -> tuple[int, str]:
        url = f"http://127.0.0.1:{service.health_port}{path}"
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE_S) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    return await asyncio.to_thread(get)


async def until_ready(service: Service) -> None:
    await until_status(service, 200)


async def until_status(service: Service, status: int) -> None:
    async def shown() -> bool:
        return (await fetch(service, "/readyz"))[0] == status

    await eventually(shown)


async def until_why(service: Service, beginning: str) -> dict[str, Any]:
    """Return the state once the service is unready for a reason."""
    state: dict[str, Any] = {}

    async def named() -> bool:
        status, body = await fetch(service, "/readyz")
        state.update(json.loads(body))
        return status == 503 and state["why"].startswith(beginning)

    await eventually(named)
    return state


async def until_shown(service: Service, line: str) -> None:
    async def shown() -> bool:
        return line in (await fetch(service, "/metrics"))[1]

    await eventually(shown)


async def test_it_becomes_ready_and_shows_each_stages_lag_and_last_success(
    bus: ProvisionedBus,
) -> None:
    seen = ReceivedRecords()
    service = Service(
        "extractor", settings_for(bus), stages=[Stage("extractor", Response, seen.handle)]
    )
    await bus.publish(make_response(0))
    async with running(service):
        await until_ready(service)
        await seen.wait_for(1)
        await bus.settled(Stage("extractor", Response, seen.handle))
        _, state = await fetch(service, "/readyz")
        [stage] = json.loads(state)["stages"]
        assert stage["stage"] == "extractor-response"
        assert stage["last_success_age_s"] >= 0
        assert stage["lag_records"] in {0, 1}
        for line in (
            'biaswatch_stage_lag_records{stage="extractor-response"} 0.0',
            'biaswatch_stage_last_success_timestamp_seconds{stage="extractor-response"} 1',
            'biaswatch_ready{service="extractor"} 1.0',
        ):
            await until_shown(service, line)
        assert (await fetch(service, "/nothing"))[0] == 404


async def test_it_is_unready_while_it_drains_and_alive_until_it_has(bus: ProvisionedBus) -> None:
    begun, go_on = ReceivedRecords(), asyncio.Event()

    async def slow(response: Response) -> list[Features]:
        begun.note(response)
        await go_on.wait()
        return []

    service = Service("extractor", settings_for(bus), stages=[Stage("extractor", Response, slow)])
    await bus.publish(make_response(0))
    async with running(service) as task:
        await until_ready(service)
        await begun.wait_for(1)
        service.stop()
        await until_status(service, 503)
        status, state = await fetch(service, "/readyz")
        assert (status, json.loads(state)["why"]) == (503, "stopping")
        assert (await fetch(service, "/healthz"))[0] == 200
        assert not task.done()
        go_on.set()
        await task
    assert (await bus.lag(Stage("extractor", Response, slow))).in_hand == 0


async def test_a_computing_handler_does_not_stop_the_health_port_from_answering(
    bus: ProvisionedBus,
) -> None:
    answered_meanwhile = asyncio.Event()
    loop = asyncio.get_running_loop()
    computing = asyncio.Event()

    def compute(_: Response) -> list[Features]:
        loop.call_soon_threadsafe(computing.set)
        while not answered_meanwhile.is_set():
            sum(range(10_000))
        return []

    service = Service(
        "extractor", settings_for(bus), stages=[Stage("extractor", Response, compute)]
    )
    await bus.publish(make_response(0))
    async with running(service):
        await computing.wait()
        assert (await fetch(service, "/healthz"))[0] == 200
        answered_meanwhile.set()


async def test_a_stage_whose_stream_is_missing_makes_the_service_unready_and_says_so(
    bus: ProvisionedBus,
) -> None:
    await bus.admin._api("STREAM.DELETE.RESPONSES")
    seen = ReceivedRecords()
    service = Service(
        "extractor", settings_for(bus), stages=[Stage("extractor", Response, seen.handle)]
    )
    async with running(service):

        async def says_why() -> bool:
            status, state = await fetch(service, "/readyz")
            why = json.loads(state)["why"]
            return (status, why) == (503, "waiting for the bus: extractor-response")

        await eventually(says_why)


async def test_a_wrong_configuration_found_at_work_ends_the_service_with_its_sentence(
    bus: ProvisionedBus,
) -> None:
    closed = []

    async def misconfigured(_: Response) -> list[Features]:
        raise ConfigurationError("The key is wrong. Set OPENAI_API_KEY.")

    service = Service(
        "extractor",
        settings_for(bus),
        stages=[Stage("extractor", Response, misconfigured)],
        close=[lambda: closed.append(True)],
    )
    await bus.publish(make_response(0))
    with pytest.raises(ConfigurationError, match=r"Set OPENAI_API_KEY\."):
        await service.run()
    assert closed == [True]


async def test_a_record_that_names_what_is_gone_is_a_dead_letter_and_ends_nothing(
    bus: ProvisionedBus,
) -> None:
    handled = ReceivedRecords()

    async def handle(response: Response) -> list[Features]:
        if response.id == make_response(0).id:
            raise ArchivedError("The run is in the archive. Restore it.")
        handled.note(response)
        return []

    stage = Stage("extractor", Response, handle)
    service = Service("extractor", settings_for(bus), stages=[stage])
    for number in (0, 1):
        await bus.publish(make_response(number))
    async with running(service) as task:
        await handled.wait_for(1)
        await bus.settled(stage)
        assert not task.done()
    [letter] = [letter async for letter in dead_letters(bus.admin)]
    assert (letter.error, letter.reason) == (
        "ArchivedError",
        "The run is in the archive. Restore it.",
    )


async def test_a_job_outlives_an_outage(bus: ProvisionedBus) -> None:
    failures, works = [TransientError("The store is not available.")], asyncio.Event()

    async def look(_: object) -> None:
        if failures:
            raise failures.pop()
        works.set()

    service = Service("planner", settings_for(bus), jobs=[Job(look, "look around")])
    async with running(service):
        await works.wait()
        await until_ready(service)


async def test_a_supervisor_outlives_an_outage(bus: ProvisionedBus) -> None:
    failures, works = [TransientError("The bus takes nothing.")], asyncio.Event()

    async def look(host: StageHost) -> None:
        assert not host.connection.lost.is_set()
        if failures:
            raise failures.pop()
        works.set()

    service = Service("planner", settings_for(bus), supervisors=[look])
    async with running(service):
        await works.wait()


async def test_a_broken_job_makes_the_service_unready_with_the_reason_and_ends_nothing(
    bus: ProvisionedBus,
) -> None:
    seen = ReceivedRecords()

    async def broken(_: Publisher) -> None:
        raise RuntimeError("the schedule is broken")

    stage = Stage("extractor", Response, seen.handle)
    jobs = [Job(broken, "start rounds")]
    service = Service("extractor", settings_for(bus), stages=[stage], jobs=jobs)
    async with running(service) as task:
        state = await until_why(service, "a job fails: start rounds (RuntimeError)")
        assert state["jobs"] == [{"job": "start rounds", "trouble": "RuntimeError"}]
        await bus.publish(make_response(0))
        await seen.wait_for(1)  # the stages go on
        assert not task.done()


async def test_a_job_that_needs_a_person_ends_the_service_with_its_sentence(
    bus: ProvisionedBus,
) -> None:
    async def misconfigured(_: object) -> None:
        raise ConfigurationError("The key is wrong. Set OPENAI_API_KEY.")

    with pytest.raises(ConfigurationError, match=r"Set OPENAI_API_KEY\."):
        await Service("planner", settings_for(bus), jobs=[Job(misconfigured)]).run()


@pytest.mark.parametrize("without_bus", [False, True])
async def test_it_is_unready_while_its_database_is_not_available_and_says_why(
    without_bus: bool, bus: ProvisionedBus
) -> None:
    available = False

    def check() -> None:
        if not available:
            raise TransientError("The store is not available: connection refused.")

    service = Service(
        "gateway", settings_for(bus), check_store=check, ready_without_bus=without_bus
    )
    async with running(service):
        state = await until_why(service, "The store is not available: connection refused.")
        assert state["store_trouble"] == state["why"]
        assert (await fetch(service, "/healthz"))[0] == 200
        available = True
        await until_ready(service)


async def test_a_stage_that_finishes_nothing_makes_the_service_unready_and_says_why(
    bus: ProvisionedBus,
) -> None:
    go_on = asyncio.Event()

    async def hang(_: Response) -> list[Features]:
        await go_on.wait()
        return []

    stage = Stage("extractor", Response, hang, stuck_after_s=0.2)
    service = Service("extractor", settings_for(bus), stages=[stage])
    async with running(service):
        await until_ready(service)
        await bus.publish(make_response(0))
        await until_why(service, "no progress: extractor-response: The handler is busy")
        go_on.set()
        await until_ready(service)


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (TransientError("The model is away."), "The model is away."),
        (OSError(errno.ENOSPC, "No space left"), f"{gettempdir()}, the folder of temporary files"),
    ],
    ids=["outage", "full disk"],
)
async def test_a_stage_whose_records_all_fail_makes_the_service_unready_and_says_why(
    error: Exception, why: str, bus: ProvisionedBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage_module, "TROUBLED_S", 0.2)

    def away(_: Response) -> list[Features]:
        raise error

    stage = Stage("extractor", Response, away)
    service = Service("extractor", settings_for(bus), stages=[stage])
    await bus.publish(make_response(0))
    async with running(service):
        await until_why(service, f"no progress: extractor-response: {why}")


async def test_without_a_connection_to_the_bus_it_says_so(bus: ProvisionedBus) -> None:
    service = Service("planner", settings_for(bus))
    async with running(service):
        await until_ready(service)
        bus.server.kill()
        await until_why(service, "The connection to the bus is lost; it is being made again.")
        bus.server.start()
        await until_ready(service)


async def test_a_bus_that_hangs_is_named(
    bus: ProvisionedBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus_connection, "CHECK_S", 1)
    monkeypatch.setattr(health, "BUS_CHECK", Job(Connection.check_available, every_s=0.1))
    service = Service("planner", settings_for(bus))
    async with running(service):
        await until_ready(service)
        os.kill(bus.server.pid, signal.SIGSTOP)
        try:
            state = await until_why(service, "The bus has not answered within 1 s.")
            assert state["bus_trouble"] == state["why"]
        finally:
            os.kill(bus.server.pid, signal.SIGCONT)
        await until_ready(service)


async def test_two_services_on_one_health_port_are_told_apart_in_one_sentence(
    bus: ProvisionedBus,
) -> None:
    first = Service("extractor", settings_for(bus))
    async with running(first):
        second = Service("recorder", settings_for(bus, health_port=first.health_port))
        with pytest.raises(ConfigurationError, match=r"port \d+ .*BIASWATCH_HEALTH_PORT"):
            await second.run()


def test_a_stalled_event_loop_is_not_healthy() -> None:
    state = ServiceHealth("extractor", ready=True, why="working", loop_age_s=31.0, stages=())
    health = HealthServer("127.0.0.1", 0, lambda: state)
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(f"http://127.0.0.1:{health.port}/healthz", timeout=PATIENCE_S)
    caught.value.close()
    assert caught.value.code == 503
    health.close()


def test_settings_of_a_laptop_need_nothing(tmp_path: Path) -> None:
    settings = Settings.model_validate({"state_dir": tmp_path})
    assert settings.store == f"sqlite:///{tmp_path / 'store.db'}"
