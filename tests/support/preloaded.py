"""What the command line loads sooner or later, loaded once for all the commands of the tests."""

import pkgutil
from importlib import import_module

COMMAND_LINE = "biaswatch"
"""Found by its name: nothing in shared imports what stands on it."""
HEAVY = ("anthropic", "matplotlib.figure", "openai", "pandas", "pyarrow", "scipy.stats")

for _found in pkgutil.walk_packages(import_module(COMMAND_LINE).__path__, f"{COMMAND_LINE}."):
    import_module(_found.name)
for _name in HEAVY:
    import_module(_name)
