"""Elements of pictures as SVG, the same on pages and in reports: colours, marks, texts.

Positions are shares of the width, so that words keep their size on every screen. Elements are built
as a tree, which escapes every text.
"""

from importlib.resources import files
from xml.etree.ElementTree import Element, SubElement, tostring

from biaswatch.shared import presentation
from biaswatch.shared.contracts import Estimate, SummaryWord
from biaswatch.shared.foreign_text import shown
from biaswatch.shared.formatting import number

MARK = 5
"""Half the size of a mark."""
MAX_TICKS = 4
COLORS = {
    SummaryWord.DISPARITY: "#a8231b",
    SummaryWord.NO_DISPARITY: "#27613a",
    SummaryWord.INCONCLUSIVE: "#7a5200",
}
"""For renderers that apply no style sheet inside a picture; pages overrule them."""
PALE, GREY = "#e9ebed", "#5c626a"


def markup(element: Element) -> str:
    """Return an element as HTML, with all texts escaped."""
    # As XML, also `<` of attributes is escaped; no element ends itself, as HTML wants.
    return tostring(element, encoding="unicode", short_empty_elements=False)


def drawing_style() -> str:
    """Return the style sheet of pictures; pages declare its colours."""
    return (files(presentation.__name__) / "drawing.css").read_text(encoding="utf-8")


def gap_text(gap: Estimate) -> str:
    """Return a gap with its sign and its interval: `-0.58 (-0.71 to -0.45)`."""
    if gap.value is None:
        return gap.reason or "not measured"
    value = number(gap.value, signed=True)
    if gap.low is None or gap.high is None:
        return f"{value} (no interval)"
    return f"{value} ({number(gap.low, signed=True)} to {number(gap.high, signed=True)})"


def add_element(parent: Element, tag: str, text: str | None = None, **attributes: str) -> Element:
    """Append an element, with its text visible and isolated as everywhere."""
    element = SubElement(parent, tag, attributes)
    element.text = None if text is None else shown(text)
    return element


def percent(position: float) -> str:
    """Return a position as a share of the width: `12.5%`."""
    return f"{position:g}%"
