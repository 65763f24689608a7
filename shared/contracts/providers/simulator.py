"""The simulator: models whose bias is known."""

from biaswatch.shared.contracts.providers import Provider

PROVIDER = Provider(
    example="simulator:biased or simulator:unbiased",
    adapter="llm.openai_formats:OpenAIChat.connect",
    takes_cache_key=True,
    simulated=True,
)
