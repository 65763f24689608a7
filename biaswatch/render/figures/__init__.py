"""Pictures of a run's findings, each as PNG and SVG; they need the extra `figures`."""

from biaswatch.render.figures.drawing import draw

__all__ = ["draw"]
