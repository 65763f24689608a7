"""What the extractor does: finds its extractors, measures responses, says who is running."""

from services.extractor.handlers.announcing import announce
from services.extractor.handlers.discovering import DropIns
from services.extractor.handlers.finding import load
from services.extractor.handlers.measuring import Measure

__all__ = ["DropIns", "Measure", "announce", "load"]
