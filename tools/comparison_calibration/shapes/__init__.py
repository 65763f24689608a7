"""Every shape of the table, by kind of data."""

from tools.comparison_calibration.shapes.banks import BANKS
from tools.comparison_calibration.shapes.binary import BINARY
from tools.comparison_calibration.shapes.bounded import BOUNDED
from tools.comparison_calibration.shapes.clustered import CLUSTERED, CLUSTERED_UNBOUNDED
from tools.comparison_calibration.shapes.families import FAMILIES
from tools.comparison_calibration.shapes.missing import MISSING
from tools.comparison_calibration.shapes.paired import PAIRED
from tools.comparison_calibration.shapes.paired_binary import PAIRED_BINARY
from tools.comparison_calibration.shapes.partly_paired import PARTLY_PAIRED
from tools.comparison_calibration.shapes.unbounded import UNBOUNDED

SHAPES = (
    *BINARY,
    *BOUNDED,
    *UNBOUNDED,
    *PAIRED_BINARY,
    *PAIRED,
    *PARTLY_PAIRED,
    *CLUSTERED,
    *CLUSTERED_UNBOUNDED,
    *BANKS,
    *FAMILIES,
    *MISSING,
)
