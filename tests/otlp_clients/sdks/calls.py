"""A chat and a tool call with one SDK: `calls.py SDK MODEL COLLECTOR`.

It runs in the environment of that SDK, without biaswatch.
"""

import os
import sys
import time
from collections.abc import Callable
from typing import Any

SDK, MODEL, COLLECTOR = sys.argv[1:]
QUESTION = "Rate Eva."
ASKED = [{"role": "user", "content": QUESTION}]
PARAMETERS = {"type": "object", "properties": {"person": {"type": "string"}}}
TOOL = {
    "type": "function",
    "function": {"name": "rate", "description": "Rate a person.", "parameters": PARAMETERS},
}
TOKEN = "Authorization=Bearer%20sender"
SETTINGS = {
    "OTEL_SERVICE_NAME": "support",
    "OTEL_EXPORTER_OTLP_ENDPOINT": COLLECTOR,
    "OTEL_EXPORTER_OTLP_HEADERS": TOKEN,
    "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
    "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY",
    "OPENAI_API_KEY": "none",
}
OF_SDKS = {
    "langchain": {"LANGSMITH_TRACING": "true", "LANGSMITH_OTEL_ENABLED": "true",
                  "LANGSMITH_OTEL_ONLY": "true", "LANGSMITH_API_KEY": "none"},
    "mlflow": {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{COLLECTOR}/v1/traces",
               "MLFLOW_ENABLE_OTLP_EXPORTER": "true"},
    "litellm": {"OTEL_EXPORTER": "otlp_http", "OTEL_ENDPOINT": f"{COLLECTOR}/v1/traces",
                "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer sender",
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                "USE_OTEL_LITELLM_REQUEST_SPAN": "true"},
}  # fmt: skip
os.environ.update(SETTINGS | OF_SDKS.get(SDK, {}))


def rate(person: str) -> str:
    """Rate a person."""
    return "9"


def provider() -> Any:
    """Return a provider of tracers with the usual batches, set as the default."""
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    tracers = TracerProvider()
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(tracers)
    return tracers


def ask_openai() -> None:
    """Ask with the client of OpenAI, once without and once with a tool."""
    import openai

    client = openai.OpenAI(base_url=MODEL, api_key="none")
    client.chat.completions.create(model="biased", messages=ASKED)
    client.chat.completions.create(model="biased", messages=ASKED, tools=[TOOL])


def by_openai() -> None:
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor

    tracers = provider()
    OpenAIInstrumentor().instrument(tracer_provider=tracers)
    ask_openai()
    tracers.shutdown()


def by_anthropic() -> None:
    from opentelemetry.instrumentation.genai.anthropic import AnthropicInstrumentor

    tracers = provider()
    AnthropicInstrumentor().instrument(tracer_provider=tracers)
    import anthropic

    client = anthropic.Anthropic(base_url=MODEL.removesuffix("/v1"), api_key="none")
    tool = {"name": "rate", "description": "Rate a person.", "input_schema": PARAMETERS}
    client.messages.create(model="biased", max_tokens=50, messages=ASKED)
    client.messages.create(model="biased", max_tokens=50, messages=ASKED, tools=[tool])
    tracers.shutdown()


def by_langchain() -> None:
    tracers = provider()
    from langchain_core.tools import tool
    from langchain_core.tracers.langchain import wait_for_all_tracers
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="biased", base_url=MODEL, api_key="none")
    model.invoke(QUESTION)
    model.bind_tools([tool(rate)]).invoke(QUESTION)
    wait_for_all_tracers()
    time.sleep(2)  # the client of LangSmith ends its spans in a thread
    tracers.shutdown()


def by_llama_index() -> None:
    from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

    tracers = provider()
    LlamaIndexInstrumentor().instrument(tracer_provider=tracers)
    from llama_index.core.llms import ChatMessage
    from llama_index.core.tools import FunctionTool
    from llama_index.llms.openai_like import OpenAILike

    model = OpenAILike(
        model="biased", api_base=MODEL, api_key="none",
        is_chat_model=True, is_function_calling_model=True,
    )  # fmt: skip
    model.chat([ChatMessage(role="user", content=QUESTION)])
    model.chat_with_tools([FunctionTool.from_defaults(rate)], user_msg=QUESTION)
    tracers.shutdown()


def by_pydantic_ai() -> None:
    import logfire
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    logfire.configure(send_to_logfire=False, service_name="support", console=False)
    logfire.instrument_pydantic_ai()
    model = OpenAIChatModel("biased", provider=OpenAIProvider(base_url=MODEL, api_key="none"))
    Agent(model).run_sync(QUESTION)
    Agent(model, tools=[rate]).run_sync(QUESTION)
    logfire.shutdown()


def by_openinference() -> None:
    from openinference.instrumentation.openai import OpenAIInstrumentor

    tracers = provider()
    OpenAIInstrumentor().instrument(tracer_provider=tracers)
    ask_openai()
    tracers.shutdown()


def by_openllmetry() -> None:
    from opentelemetry import trace
    from traceloop.sdk import Traceloop

    headers = {"Authorization": "Bearer sender"}
    Traceloop.init("support", COLLECTOR, headers=headers, telemetry_enabled=False)
    ask_openai()
    trace.get_tracer_provider().force_flush()


def by_mlflow() -> None:
    import mlflow

    mlflow.openai.autolog()
    ask_openai()
    mlflow.flush_trace_async_logging()
    time.sleep(6)  # longer than the delay of a batch of spans


def by_litellm() -> None:
    import litellm

    litellm.callbacks = ["otel"]
    fields = {"model": "openai/biased", "api_base": MODEL, "messages": ASKED}
    litellm.completion(**fields)
    litellm.completion(**fields, tools=[TOOL])
    time.sleep(8)  # longer than the delay of a batch of spans


SDKS: dict[str, Callable[[], None]] = {
    name.removeprefix("by_"): call for name, call in list(globals().items())
    if name.startswith("by_")
}  # fmt: skip
SDKS[SDK]()
