"""OpenAI's Chat Completions, and every server that speaks that format."""

from biaswatch.shared.contracts.providers import Provider

PROVIDER = Provider(
    example="openai:gpt-5-mini, or openai:llama3.1@http://localhost:11434/v1",
    adapter="llm.openai_formats:OpenAIChat.connect",
    url="https://api.openai.com/v1",
    takes_address=True,
    batches=True,
    key_variable="OPENAI_API_KEY",
    takes_cache_key=True,
)
