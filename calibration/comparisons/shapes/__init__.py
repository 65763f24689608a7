"""Every shape of the table, by kind of data."""

from calibration.comparisons.shapes.banks import BANKS
from calibration.comparisons.shapes.binary import BINARY
from calibration.comparisons.shapes.bounded import BOUNDED
from calibration.comparisons.shapes.clustered import CLUSTERED, CLUSTERED_UNBOUNDED
from calibration.comparisons.shapes.families import FAMILIES
from calibration.comparisons.shapes.missing import MISSING
from calibration.comparisons.shapes.paired import PAIRED
from calibration.comparisons.shapes.paired_binary import PAIRED_BINARY
from calibration.comparisons.shapes.partly_paired import PARTLY_PAIRED
from calibration.comparisons.shapes.unbounded import UNBOUNDED

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
