"""Anthropic's Messages."""

from biaswatch.shared.contracts.providers import Provider

PROVIDER = Provider(
    example="anthropic:claude-sonnet-4",
    adapter="llm.anthropic_messages:AnthropicMessages.connect",
    url="https://api.anthropic.com",
    takes_address=True,
    batches=True,
    key_variable="ANTHROPIC_API_KEY",
)
