"""The wire formats the simulator speaks; today OpenAI's chat completions."""
