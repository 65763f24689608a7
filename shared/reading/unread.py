"""That an answer does not say what was asked for; never a default, never a guess."""


class Unread(Exception):  # noqa: N818 - an outcome that is recorded, not an accident
    """The text says none or several; the message is the reason, a few fixed words."""
