"""Kinds of spans, by the attributes of each convention."""

from enum import StrEnum

from biaswatch.shared.conventions.messages import label_of, parsed
from biaswatch.shared.conventions.signals import Signal


class SpanKind(StrEnum):
    """Kind of operation of a span."""

    CALL = "call"
    """A call of a model; its output is an answer."""
    AGENT = "agent"
    """An agent; its last text is the answer, and the calls below it are steps."""
    OTHER = "other"
    """A tool, retrieval, embedding or chain, whose output is not an answer."""


KIND_ATTRIBUTES = ("langsmith.span.kind", "openinference.span.kind", "mlflow.spanType",
                   "langfuse.observation.type", "gen_ai.operation.name", "llm.request.type",
                   "traceloop.span.kind", "ai.operationId")  # fmt: skip
"""Attributes with the kind of a span; the first with a value is used."""
AGENTS = {"agent", "invoke_agent", "invoke_workflow", "agent_run", "ai.generatetext",
          "ai.streamtext", "ai.generateobject", "ai.streamobject"}  # fmt: skip
LANGGRAPH_NODE = "langgraph_node"
OTHERS = {"tool", "execute_tool", "tool_call", "embeddings", "embedding", "create_agent", "chain",
          "retriever", "retrieval", "reranker", "rerank", "guardrail", "evaluator", "parser",
          "prompt", "workflow", "task", "span", "event", "memory", "plan", "handoff", "unknown",
          "create_memory", "search_memory", "ai.toolcall", "ai.embed", "ai.embedmany",
          "ai.embed.doembed", "ai.embedmany.doembed", "function", "mcp", "moderation"}  # fmt: skip
"""Other names, like `chat`, `responses` or `LLM`, are calls."""


def kind_of(signal: Signal) -> SpanKind | None:
    """Return the kind that a signal declares; None if it declares none."""
    name = operation_of(signal)
    if name is None:
        fields = signal.attributes
        if "gen_ai.tool.name" in fields or "gen_ai.tool.call.id" in fields:
            return SpanKind.OTHER
        is_agent = "pydantic_ai.all_messages" in fields or "all_messages_events" in fields
        return SpanKind.AGENT if is_agent else None
    if name in AGENTS or (name == "chain" and _is_graph(signal)):
        return SpanKind.AGENT
    return SpanKind.OTHER if name in OTHERS else SpanKind.CALL


def _is_graph(signal: Signal) -> bool:
    """Return whether a chain is a whole graph of LangGraph: an agent, and no node of one."""
    metadata = f"{signal.attributes.get('metadata')}"
    integration = f"{signal.attributes.get('langsmith.metadata.ls_integration')} {metadata}"
    is_node = "langsmith.metadata.langgraph_node" in signal.attributes or LANGGRAPH_NODE in metadata
    return not is_node and (signal.name == "LangGraph" or "create_agent" in integration)


def operation_of(signal: Signal) -> str | None:
    """Return the name of an operation in lower case; None without one."""
    names = (label_of(parsed(signal.attributes.get(name))) for name in KIND_ATTRIBUTES)
    return next((name.lower() for name in names if name), None)
