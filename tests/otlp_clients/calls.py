"""Asks a model as a team with one instrumentation does; prints each request and its reply, as JSON.

It runs in an environment of its own, without biaswatch: `calls.py KIND MODEL COLLECTOR CALLS`.
"""

import json
import os
import sys
from collections.abc import Callable
from typing import Any

KIND, MODEL_URL, COLLECTOR, CALLS = (*sys.argv[1:4], int(sys.argv[4]))
HEADERS = {"Authorization": "Bearer sender"}
SETTINGS = {
    "genai-events": {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"},
    "genai-span": {
        "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY",
    },
    "genai-event": {
        "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "EVENT_ONLY",
    },
}
os.environ.update({"OTEL_SERVICE_NAME": "support", **SETTINGS.get(KIND, {})})

import openai  # noqa: E402 - after the settings, which are read on import
from opentelemetry import _logs, baggage, context, trace  # noqa: E402
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter  # noqa: E402
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: E402
from opentelemetry.processor.baggage import ALLOW_ALL_BAGGAGE_KEYS, BaggageSpanProcessor  # noqa: E402
from opentelemetry.sdk._logs import LoggerProvider  # noqa: E402
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor  # noqa: E402
from opentelemetry.sdk.trace import TracerProvider  # noqa: E402
from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: E402


def gender(n: int) -> str:
    """Return the group of a user's number."""
    return "female" if n % 2 else "male"


def ask(client: Any, n: int) -> dict[str, Any]:
    """Ask a question that differs from every other; return what a gateway would log of it."""
    request = {
        "model": "biased",
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": f"What is said of a {gender(n)} person, number {n}?"},
        ],
        "user": f"u-{n}",
        "metadata": {"gender": gender(n)},
    }
    reply = client.chat.completions.create(**request)
    return {"request": request, "response": reply.model_dump(mode="json")}


def instrumentor() -> Any:
    """Return the instrumentation that is tried."""
    if KIND.startswith("genai"):
        from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
    elif KIND == "openinference":
        from openinference.instrumentation.openai import OpenAIInstrumentor
    else:
        from opentelemetry.instrumentation.openai import OpenAIInstrumentor
    return OpenAIInstrumentor()


def by_opentelemetry() -> list[dict[str, Any]]:
    """Ask with spans and log events that go to the collector, and groups in baggage."""
    spans = OTLPSpanExporter(f"{COLLECTOR}/v1/traces", headers=HEADERS)
    tracers, loggers = TracerProvider(), LoggerProvider()
    tracers.add_span_processor(BaggageSpanProcessor(ALLOW_ALL_BAGGAGE_KEYS))
    tracers.add_span_processor(BatchSpanProcessor(spans, max_export_batch_size=7))
    events = OTLPLogExporter(f"{COLLECTOR}/v1/logs", headers=HEADERS)
    loggers.add_log_record_processor(BatchLogRecordProcessor(events, max_export_batch_size=5))
    trace.set_tracer_provider(tracers)
    _logs.set_logger_provider(loggers)
    instrumentor().instrument(tracer_provider=tracers, logger_provider=loggers)
    client, tracer = openai.OpenAI(base_url=MODEL_URL, api_key="none"), tracers.get_tracer("app")
    answers = []
    for n in range(CALLS):
        held = baggage.set_baggage("biaswatch.group.gender", gender(n))
        token = context.attach(baggage.set_baggage("user.id", f"u-{n}", held))
        with tracer.start_as_current_span("handle"):
            answers.append(ask(client, n))
        context.detach(token)
    tracers.shutdown()
    loggers.shutdown()
    return answers


def by_langfuse() -> list[dict[str, Any]]:
    """Ask through Langfuse's client, which names user and metadata itself."""
    from langfuse import Langfuse, propagate_attributes
    from langfuse.openai import OpenAI

    if KIND == "langfuse":  # as a team has it: only its address and its keys are ours
        observed = Langfuse(public_key="default", secret_key="sender", base_url=COLLECTOR)
        if not observed.auth_check():
            raise SystemExit("The keys are refused.")
    else:
        exporter = OTLPSpanExporter(f"{COLLECTOR}/v1/traces", headers=HEADERS)
        observed = Langfuse(public_key="pk", secret_key="sk", span_exporter=exporter)
    client, answers = OpenAI(base_url=MODEL_URL, api_key="none"), []
    for n in range(CALLS):
        with (
            observed.start_as_current_observation(name="handle", as_type="span"),
            propagate_attributes(user_id=f"u-{n}", metadata={"gender": gender(n)}),
        ):
            answers.append(ask(client, n))
    observed.flush()
    observed.shutdown()
    return answers


ASKING: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "langfuse": by_langfuse,
    "langfuse-exporter": by_langfuse,
}
print(json.dumps(ASKING.get(KIND, by_opentelemetry)()))
