"""Errors of providers, in the forms that each documents or sends: what they mean, what is shown."""

import json
from typing import Any

import pytest

from biaswatch.shared.llm.error_documents import MAX_MESSAGE_CHARACTERS, provider_message
from biaswatch.shared.llm.port import UNKNOWN_TOKENS, CallFailed, Failure
from biaswatch.shared.llm.provider_errors import failure_in_reply, failure_of_status, finish_of

KEY = "Zq81-the-key-of-this-test"


def failure(status: int, body: Any, **headers: str) -> CallFailed:
    written = body if isinstance(body, bytes) else json.dumps(body).encode()
    return failure_of_status(
        "The provider", status, headers, written, key=KEY, key_source="OPENAI_API_KEY"
    )


def error(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


REJECTED = {
    "OpenAI": (400, error("Unsupported value: 'temperature'", code="unsupported_value")),
    "vLLM": (400, {"object": "error", "message": "maximum context length is 4096", "code": 400}),
    "Ollama": (404, {"error": "model 'x' not found, try pulling it first"}),
    "FastAPI": (422, {"detail": [{"loc": ["body", "top_k"], "msg": "extra fields"}]}),
    "Mistral": (
        422,
        {"object": "error", "message": {"detail": [{"loc": ["body", "a"], "msg": "extra"}]}},
    ),
    "Gemini": (400, [error("Unknown name: top_q", code=400, status="INVALID_ARGUMENT")]),
    "Anthropic": (404, {"type": "error", **error("model: x", type="not_found_error")}),
    "plain text": (404, b"404 page not found"),
    "filter parameter": (400, error("Unknown parameter: 'content_filter'.", code="unknown")),
}


@pytest.mark.parametrize("provider", REJECTED)
def test_a_rejected_request_has_the_words_of_its_provider(provider: str) -> None:
    rejected = failure(*REJECTED[provider])
    assert rejected.why is Failure.BAD_REQUEST
    assert rejected.detail.startswith("The provider answered HTTP 4")
    assert rejected.detail.endswith('".')


def test_the_field_of_a_validation_error_is_named() -> None:
    assert '"body.top_k: extra fields"' in failure(*REJECTED["FastAPI"]).detail


def test_the_words_of_an_upstream_provider_follow_those_of_the_router() -> None:
    raw = json.dumps(error("temperature is not supported"))
    routed = failure(400, error("Provider returned error", code=400, metadata={"raw": raw}))
    assert '"Provider returned error: temperature is not supported"' in routed.detail


FILTERED = {
    "Azure by code": (400, error("x", code="content_filter")),
    "Azure by inner code": (400, error("x", innererror={"code": "ResponsibleAIPolicyViolation"})),
    "Azure by result": (
        400,
        error("x", innererror={"content_filter_result": {"hate": {"filtered": True}}}),
    ),
    "Azure in words": (
        400,
        error("The response was filtered due to the prompt triggering the content management"),
    ),
    "Anthropic": (400, error("Output blocked by content filtering policy")),
    "OpenAI": (400, error("Invalid prompt: your prompt was flagged as potentially violating our")),
    "OpenRouter": (403, error("x requires moderation. Your input was flagged for violence")),
    "xAI": (403, {"code": "denied", "error": "Content violates usage guidelines."}),
    "DeepSeek": (400, error("Content Exists Risk")),
    "Qwen": (400, error("Input data may contain it", code="DataInspectionFailed")),
    "LiteLLM": (400, error("litellm.X: blocked", type="ContentPolicyViolationError")),
    "Bedrock": (400, error("The guardrail intervened", code="guardrail_intervened")),
}


@pytest.mark.parametrize("provider", FILTERED)
def test_a_content_filter_is_one_however_it_is_reported(provider: str) -> None:
    assert failure(*FILTERED[provider]).why is Failure.CONTENT_FILTER


EMPTY_CREDIT = {
    "OpenAI by code": (429, error("x", code="insufficient_quota")),
    "OpenAI by type": (429, error("no credit left", type="insufficient_quota", code=None)),
    "OpenAI in words": (429, error("You exceeded your current quota, please check your plan")),
    "Anthropic": (400, error("Your credit balance is too low to access the Anthropic API.")),
    "Anthropic by type": (403, error("x", type="billing_error")),
    "DeepSeek": (402, error("Insufficient Balance", code="invalid_request_error")),
    "OpenRouter": (402, error("This request requires more credits, or fewer max_tokens")),
    "Perplexity": (401, error("You have exceeded your quota", type="insufficient_quota")),
    "Venice": (402, {"error": "Insufficient USD or Diem balance to complete request."}),
    "LiteLLM": (400, error("Budget has been exceeded! Current cost: 2", type="budget_exceeded")),
    "Google": (403, error("This API method requires billing to be enabled.")),
    "Gemini of a day": (
        429,
        [error("Quota exceeded. Retry in 3s.", details=[{"quotaId": "RequestsPerDayPerProject"}])],
    ),
    "no JSON": (402, b"Payment Required"),
}


@pytest.mark.parametrize("provider", sorted(EMPTY_CREDIT.keys() - {"Gemini of a day"}))
def test_used_up_credit_is_a_quota_however_it_is_reported(provider: str) -> None:
    assert failure(*EMPTY_CREDIT[provider]).why is Failure.QUOTA


LIMITED = {
    "Groq": error("Rate limit reached. Upgrade at https://x/settings/billing", code="rate_limit"),
    "OpenAI": error("Rate limit reached for m on tokens per min. Please try again in 2s."),
    "Gemini": [
        error(
            "You exceeded your current quota, please check your plan and billing details.",
            status="RESOURCE_EXHAUSTED",
            details=[{"violations": [{"quotaId": "GenerateRequestsPerMinutePerProject"}]}],
        )
    ],
    "Vertex": error("Quota exceeded for online_prediction_requests_per_base_model"),
    "Cerebras": error("Requests per minute limit exceeded", code="request_quota_exceeded"),
    "no body": b"",
}


@pytest.mark.parametrize("provider", LIMITED)
def test_a_limit_of_calls_is_not_used_up_credit(provider: str) -> None:
    limited = failure(429, LIMITED[provider], **{"retry-after": "3"})
    assert (limited.why, limited.retry_after_s) == (Failure.RATE_LIMITED, 3.0)


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (error("upstream overloaded", code=502), Failure.SERVER_ERROR),
        (error("no such model", code="404"), Failure.BAD_REQUEST),
        (error("slow down", code=429), Failure.RATE_LIMITED),
        (error("Insufficient credits", code=402), Failure.QUOTA),
        (error("Insufficient Balance"), Failure.QUOTA),
        (error("something"), Failure.SERVER_ERROR),
        (error("bad", type="invalid_request_error"), Failure.BAD_REQUEST),
        ([error("denied", code=400)], Failure.BAD_REQUEST),
        ({"choices": [{"error": {"code": 502, "message": "x"}}]}, Failure.SERVER_ERROR),
        ({"choices": [], "promptFeedback": {"blockReason": "SAFETY"}}, Failure.CONTENT_FILTER),
        (
            {"prompt_filter_results": [{"content_filter_results": {"hate": {"filtered": True}}}]},
            Failure.CONTENT_FILTER,
        ),
        ({"amazon-bedrock-guardrailAction": "INTERVENED"}, Failure.CONTENT_FILTER),
        ({"object": "error", "message": "too long", "code": 400}, Failure.BAD_REQUEST),
        ({"type": "error", "message": "no credits left"}, Failure.QUOTA),
        ({"success": False, "errors": [{"message": "No such model"}]}, Failure.SERVER_ERROR),
    ],
)
def test_an_error_in_a_reply_with_status_200_has_its_kind(document: Any, why: Failure) -> None:
    result = failure_in_reply(document, key=None, tokens=UNKNOWN_TOKENS)
    assert result is not None
    assert (result.why, result.tokens) == (why, UNKNOWN_TOKENS)


def test_a_reply_that_is_an_error_itself_has_the_words_of_its_provider() -> None:
    failed = failure_in_reply(
        {"success": False, "errors": [{"message": "No such model"}]},
        key=None,
        tokens=UNKNOWN_TOKENS,
    )
    assert failed is not None
    assert failed.detail == 'The provider answered with an error: "No such model".'


@pytest.mark.parametrize(
    "document",
    [
        {"error": None, "choices": [{"message": {"content": "Rating: 3"}}]},
        {"error": {"message": "late"}, "choices": [{"message": {"content": "Rating: 3"}}]},
        {"choices": []},
        [],
        "words",
        None,
    ],
)
def test_a_reply_without_an_error_is_read_as_an_answer(document: Any) -> None:
    assert failure_in_reply(document, key=None, tokens=UNKNOWN_TOKENS) is None


@pytest.mark.parametrize(
    ("reported", "finish"),
    [
        ("content_filter", "content_filter"),
        ("content_filter: PROHIBITED_CONTENT", "content_filter"),
        ("SAFETY", "content_filter"),
        ("FinishReason.RECITATION", "content_filter"),
        ("guardrail_intervened", "content_filter"),
        ("length", "length"),
        ("MAX_TOKENS", "length"),
        ("max_output_tokens", "length"),
        ("model_length", "length"),
        ("stop", "stop"),
        ("tool_calls", "tool_calls"),
        (None, None),
        (3, None),
    ],
)
def test_a_finish_reason_has_one_spelling(reported: object, finish: str | None) -> None:
    assert finish_of(reported) == finish


@pytest.mark.parametrize(
    "secret",
    [
        KEY,
        "sk-proj-abcDEF123456",
        "sk-proj-****************wxyz",
        "abcd****wxyz",
        "gsk_abcdefgh12345678",
        "AIzaSyA1234567890abcdef",
        "Bearer abc.def-123456",
        "0123456789abcdef0123456789abcdef",
    ],
)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_no_key_is_in_what_is_shown(status: int, secret: str) -> None:
    detail = failure(status, error(f"Incorrect API key provided: {secret}. See the docs.")).detail
    assert secret not in detail
    assert secret[-6:] not in detail


def test_what_is_shown_is_bounded_and_on_one_line() -> None:
    words = provider_message(error("a\nb \u202e\x1b[31m" + "word " * 10_000))
    assert words is not None
    assert len(words) <= MAX_MESSAGE_CHARACTERS + 1
    assert words.isprintable()
    assert words.startswith("a b ⟨U+202E⟩⟨U+001B⟩")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"<html>bad gateway</html>",
        b"\xff\xfe",
        b"[" * 100_000,
        json.dumps({"error": {"message": {"error": {"message": {"error": 3}}}}}).encode(),
        json.dumps([[["a" * 100] * 50] * 50] * 50).encode(),
    ],
)
def test_a_body_of_any_shape_is_one_failure(body: bytes) -> None:
    assert failure(400, body).why is Failure.BAD_REQUEST
    assert len(failure(502, body).detail) < 1000
