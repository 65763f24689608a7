"""The wire formats the simulator speaks: OpenAI's chat and responses, Anthropic's messages."""
