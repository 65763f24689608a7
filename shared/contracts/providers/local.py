"""Models in GGUF files, served by llama.cpp on the machine of the generator."""

from biaswatch.shared.contracts.providers import Provider

PROVIDER = Provider(
    example="local:smollm2 or local:PATH.gguf",
    adapter="llm.local_chat:LocalChat.connect",
    local=True,
)
