"""What the command line loads sooner or later, loaded once for all the commands of the tests."""

import pkgutil
from importlib import import_module

COMMAND_LINE = "biaswatch"
"""Found by its name: nothing in shared imports what stands on it."""
HEAVY = ("anthropic", "matplotlib.figure", "openai", "pandas", "pyarrow", "scipy.stats")

LINKED = ("services", "shared")
"""Packages of `biaswatch` that the command line loads itself, where it needs them."""
OF_PEERS = ("biaswatch.integrations.inspect_tasks",)
"""Modules that another program loads: they need its packages."""

for _part in pkgutil.iter_modules(import_module(COMMAND_LINE).__path__, f"{COMMAND_LINE}."):
    if _part.name.removeprefix(f"{COMMAND_LINE}.") not in LINKED:
        _package = import_module(_part.name)
        for _module in pkgutil.walk_packages(getattr(_package, "__path__", []), f"{_part.name}."):
            if _module.name not in OF_PEERS:
                import_module(_module.name)
for _name in HEAVY:
    import_module(_name)
