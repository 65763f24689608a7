"""Build a wheel that installs one top-level name: everything goes inside `biaswatch`.

`shared` and `services` are common names, and somebody else may have packages called so. The folders
stay where they are; in the wheel `shared.x` is `biaswatch.shared.x`, and every import says so.
"""

import ast
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

INNER = ("shared", "services")
LEFT_OUT = shutil.ignore_patterns(
    *("__pycache__", "*.pyc"),
    # what somebody may have put there, and nobody may publish
    *("*.seed", "*.key", "*.pem", "*.crt", "*.conf", ".env*", "*.db*", "*token*.yaml"),
    *("channels*.yaml", "*headers*.yaml", "secrets", "*pgpass"),
)


def rewritten(source: str) -> str:
    """Return a module's source with imports of the inner packages by their name in the wheel.

    Raises
    ------
    ValueError
        A module imports an inner package by `import x.y`, whose uses cannot be rewritten safely.
    """
    lines = source.splitlines(keepends=True)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import) and any(_is_inner(name.name) for name in node.names):
            raise ValueError(f"line {node.lineno}: write `from {node.names[0].name} import ...`")
        if isinstance(node, ast.ImportFrom) and not node.level and _is_inner(node.module or ""):
            line = lines[node.lineno - 1]
            lines[node.lineno - 1] = line.replace("from ", "from biaswatch.", 1)
    return "".join(lines)


def _is_inner(module: str) -> bool:
    return module.partition(".")[0] in INNER


def write_package(root: Path, into: Path) -> None:
    """Write the package as it is installed: everything inside `biaswatch`, imports rewritten."""
    package = into / "biaswatch"
    shutil.copytree(root / "biaswatch", package, ignore=LEFT_OUT)
    for name in INNER:
        shutil.copytree(root / name, package / name, ignore=LEFT_OUT)
    shutil.copytree(root / "suites", package / "suites", ignore=LEFT_OUT)
    for path in package.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        try:
            path.write_text(rewritten(source), encoding="utf-8")
        except ValueError as error:
            raise ValueError(f"{path.relative_to(package)}, {error}") from None


class OneTopLevelName(BuildHookInterface[Any]):
    """Puts the rewritten package into a wheel; an editable install uses the folders as they are."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the package and name it as the wheel's content."""
        if version == "editable":
            return
        self._folder = Path(tempfile.mkdtemp(prefix="biaswatch-wheel-"))
        write_package(Path(self.root), self._folder)
        build_data["force_include"][str(self._folder / "biaswatch")] = "biaswatch"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was written."""
        if version != "editable":
            shutil.rmtree(self._folder)
