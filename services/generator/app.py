"""The generator's composition root."""

import math
import random
import sys
import time
from datetime import timedelta

from biaswatch.services.generator.domain.model_calls import Price
from biaswatch.services.generator.handlers.ask import Ask
from biaswatch.services.generator.handlers.batch_job import BatchJob, BatchTimes
from biaswatch.services.generator.handlers.batched_calls import BatchedCalls
from biaswatch.services.generator.handlers.caller import CallLimits, ModelCaller
from biaswatch.services.generator.handlers.endpoints import endpoint_of
from biaswatch.services.generator.handlers.paid_calls import PaidCalls
from biaswatch.services.generator.handlers.rejected_runs import RejectedRuns
from biaswatch.services.generator.handlers.run_limits import CancellationCheck, RunBudgets
from biaswatch.services.generator.handlers.target_pauses import TargetPauses
from biaswatch.services.generator.settings import GeneratorSettings
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.bus.retry_policy import RetryPolicy
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.clock import now
from biaswatch.shared.contracts import Probe
from biaswatch.shared.llm.local_models import LocalModels
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.process import serve
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Store

FORGET_EVERY_S = 3600.0
DELIVERIES = 1000
"""Maximum deliveries of a probe. A probe of a paused target may wait for days, and is redelivered
whenever a process ends; its calls are bounded by `BIASWATCH_GENERATOR_MAX_STARTS`."""
PROBES_PER_CALL = 1.25
"""Probes held for each call in flight: some are being looked up, stored or published."""


def build(settings: GeneratorSettings) -> Service:
    """Return the generator service, with a stage for every lane that has probes."""
    prices = settings.prices()
    store = Store.open(settings.store, statement_s=settings.store_statement_s)
    pauses = TargetPauses(store.paused_targets, now=now, wait_s=settings.generator_pause_s)
    folder = settings.generator_local_models_dir
    local_models = LocalModels(folder) if folder else None
    caller = model_caller(store, settings)
    ask = ask_of(store, settings, prices, pauses, caller, local_models)
    times = BatchTimes(every_s=settings.generator_batch_poll_s)
    batches = BatchJob(store.batches, store.calls, ask, caller, pauses, now=now, times=times)

    def lane_stage(lane: str) -> Stage[Probe]:
        return Stage(
            "generator",
            Probe,
            ask,
            slots=math.ceil(settings.generator_slots * PROBES_PER_CALL),
            lane=lane,
            most_in_hand=settings.generator_cap,
            on_stop=pauses.leave,
            stuck_after_s=None,  # probes of a paused target wait
        )

    async def forget(_: Publisher) -> None:
        before = now() - timedelta(days=settings.generator_keep_days)
        await in_thread(store.calls.forget, before)
        await in_thread(store.batches.forget, before)

    return Service(
        "generator",
        settings,
        lane_stage=lane_stage,
        jobs=[Job(forget, "forget old calls", every_s=FORGET_EVERY_S), pauses.job, batches.job],
        check_store=store.check_available,
        close=[ask.close, *([local_models.close] if local_models else []), store.close],
        policy=RetryPolicy(transient_attempts=DELIVERIES),
    )


def model_caller(store: Store, settings: GeneratorSettings) -> ModelCaller:
    """Return the maker of calls."""
    clock = time.monotonic
    limits = CallLimits(
        tries=settings.generator_tries,
        max_starts=settings.generator_max_starts,
        limited_s=settings.generator_patience_s,
        timeout_s=settings.generator_timeout_s,
    )
    cancellation = CancellationCheck(store.records, clock=clock)
    budgets = RunBudgets(store.calls, now=now, clock=clock)
    return ModelCaller(
        cancellation=cancellation,
        paid=PaidCalls(store.calls, now=now),
        batched=BatchedCalls(store.batches, now=now),
        budgets=budgets,
        rejected=RejectedRuns(store.calls.any_answer, budgets, cancellation),
        clock=clock,
        jitter=random.random,
        limits=limits,
    )


def ask_of(
    store: Store,
    settings: GeneratorSettings,
    prices: dict[str, Price],
    pauses: TargetPauses,
    caller: ModelCaller,
    local_models: LocalModels | None = None,
) -> Ask:
    """Return the handler of probes."""
    clock = time.monotonic
    return Ask(
        store.records,
        lambda target: endpoint_of(target, settings, prices, clock, local_models),
        caller,
        pauses,
        now=now,
        clock=clock,
    )


if __name__ == "__main__":
    sys.exit(serve(GeneratorSettings, build))
