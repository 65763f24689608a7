"""OpenLLMetry (Traceloop) until 0.50: numbered prompts and completions."""

from biaswatch.shared.conventions.contents import RecordedContent
from biaswatch.shared.conventions.messages import first_label, messages_of, numbered, parsed
from biaswatch.shared.conventions.outputs import NOTHING, Output, output_of
from biaswatch.shared.conventions.signals import Fields, Signal
from biaswatch.shared.conventions.spans.genai import genai_content


def read(signal: Signal, *, last: bool) -> RecordedContent | None:
    """Read `gen_ai.completion.N.content`, with or without the name of an operation."""
    fields = signal.attributes
    if not signal.is_span:
        return None
    completions = numbered(fields, "gen_ai.completion.")
    prompts = numbered(fields, "gen_ai.prompt.")
    if not (completions or prompts or "llm.request.type" in fields):
        return None
    completion = completions[-1 if last else 0] if completions else {}
    output = _output(completion) if completion else NOTHING
    prompt = messages_of([{**item, "content": parsed(item.get("content"))} for item in prompts])
    return genai_content(signal, fields, output, prompt, last=True)


def _output(completion: Fields) -> Output:
    output = output_of({"role": "assistant", "content": completion.get("content", "")})
    called = any(name.startswith(("tool_calls.", "function_call")) for name in completion)
    finish = first_label(completion, "finish_reason")
    return Output(output.text, finish, is_tool_call=called and output.text is None)
