"""OpenAI's Responses: reasoning effort, and limits that count reasoning."""

from biaswatch.shared.contracts.providers import Provider

PROVIDER = Provider(
    example="openai-responses:gpt-5-mini?reasoning.effort=low",
    adapter="llm.openai_formats:OpenAIResponses.connect",
    url="https://api.openai.com/v1",
    takes_address=True,
    batches=True,
    key_variable="OPENAI_API_KEY",
    takes_cache_key=True,
)
