"""The scaffolds, one file each; the file's name is the scaffold's, and each has a `build`."""

import importlib
import pkgutil

from services.generator.domain.plan import Scaffold
from services.generator.domain.variables import Unfit

NAMES = tuple(sorted(found.name for found in pkgutil.iter_modules(__path__)))


def scaffold_of(name: str) -> Scaffold:
    """Return the scaffold of this name, or raise Unfit; a name from the bus loads nothing else."""
    if name not in NAMES:
        raise Unfit(f"There is no scaffold {name}; there are {', '.join(NAMES)}.")
    scaffold: Scaffold = importlib.import_module(f"{__name__}.{name}").build()
    return scaffold
