"""What the generator does with probes."""

from services.generator.handlers.ask import Ask

__all__ = ["Ask"]
