"""The roles a target can be put in, as people write them, as system prompts."""

NONE, ASSISTANT, PLAY = "none", "assistant", "role-play "


def system_prompt_of(role: str) -> str | None:
    """Return the prompt of `none`, `assistant`, `role-play X`; other words are the prompt."""
    if role == NONE:
        return None
    if role == ASSISTANT:
        return "You are a helpful assistant."
    if role.startswith(PLAY) and (part := role.removeprefix(PLAY).strip()):
        return f"Play this part in all that follows, and do not step out of it: {part}."
    return role
