"""Figures that a notebook shows by themselves, also where nobody has chosen a backend."""

from io import BytesIO

from matplotlib import rc_context
from matplotlib.figure import Figure

from biaswatch.render.figures import STYLE

SCREEN_DPI = 100


class ShownFigure(Figure):
    """A figure of matplotlib that is its own picture at the end of a cell."""

    def _repr_png_(self) -> bytes:
        held = BytesIO()
        with rc_context(STYLE):
            self.savefig(held, format="png", dpi=SCREEN_DPI)
        return held.getvalue()
