"""Functions that a user writes and names as `module:function`."""

import importlib
import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from biaswatch.shared.errors import UsageError

REFERENCE = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_]\w*)")


def user_function(reference: str) -> Callable[..., Any]:
    """Return the function of a `module:function`, from the current folder or an installed package.

    Raises
    ------
    UsageError
        The reference has another form, the module cannot be imported, or has no such function.
    """
    match = REFERENCE.fullmatch(reference)
    if match is None:
        raise UsageError(f"{reference!r} is not of the form module:function.")
    module, name = match.groups()
    try:
        function = getattr(_module(module), name, None)
    except Exception as error:  # noqa: BLE001 - a module of a user may raise anything
        why = f"{type(error).__name__}: {error}"
        raise UsageError(f"The module {module!r} cannot be imported: {why}.") from None
    if not callable(function):
        raise UsageError(f"The module {module!r} has no function {name!r}.")
    result: Callable[..., Any] = function
    return result


def _module(name: str) -> ModuleType:
    file = Path.cwd() / f"{name.replace('.', '/')}.py"
    if not file.is_file():
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be read as Python")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
