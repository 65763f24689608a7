"""What the oracle does: asks about the pairs of closed runs, hears replies, closes pairs."""

from services.oracle.handlers.asking import GATHER, Asking
from services.oracle.handlers.closing import Closings
from services.oracle.handlers.hearing import Hearing

__all__ = ["GATHER", "Asking", "Closings", "Hearing"]
