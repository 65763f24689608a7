"""YAML as `make manifests` writes it."""

from typing import Any

import yaml


class ManifestDumper(yaml.SafeDumper):
    """Writes repeated parts in full and indents lists under their key."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write no anchors."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists under their key."""
        super().increase_indent(flow, indentless=False)
