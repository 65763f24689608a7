"""Helm's lint, check of values and render, as a script for an interpreter with Helm's library."""

import json
import sys
from typing import Any

from helm_python import Chart, HelmError, lint

NAME = "biaswatch"


def answer(path: str, verb: str, values: dict[str, Any], namespace: str) -> str:
    """Return the linter's findings as JSON, the refusal of the values, or the rendering."""
    if verb == "lint":
        return json.dumps(lint(path, values=values, strict=True)["messages"])
    with Chart.load(path) as chart:
        if verb == "render":
            files = chart.render(values, name=NAME, namespace=namespace)
            return "\n---\n".join(text for name, text in files.items() if name.endswith(".yaml"))
        try:
            chart.validate_schema(values)
        except HelmError as error:
            return str(error)
    return ""


if __name__ == "__main__":
    sys.stdout.write(answer(*sys.argv[1:3], json.loads(sys.argv[3]), sys.argv[4]))
