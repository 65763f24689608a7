"""Monitors as files: read, checked, and told what is wrong with them in one sentence."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import ValidationError

from biaswatch.readers.run_checks import check_scaffolds
from biaswatch.readers.suites import load_suite
from biaswatch.readers.targets import with_file
from shared.contracts import TRAFFIC, Suite
from shared.contracts.mistakes import first_mistake
from shared.errors import UsageError
from shared.runtime.yaml_text import parse_yaml, yaml_line, yaml_problem

if TYPE_CHECKING:
    from services.gateway.domain.monitors import MonitorRequest
    from services.gateway.domain.traffic_monitors import TrafficRequest


def load_monitor(path: Path) -> "tuple[MonitorRequest | TrafficRequest, Suite | None]":
    """Read a monitor's file and its suite, which the file names beside itself.

    A monitor of production traffic has none.

    Raises
    ------
    UsageError
        Something cannot be read, or is wrong; the file and the field are named.
    """
    from services.gateway.domain.traffic_monitors import ASKED, declared

    fields = _fields(path)
    suite = None
    if isinstance(fields.get("target"), str):
        fields["target"] = with_file(fields["target"])
    if not str(fields.get("target")).startswith(f"{TRAFFIC}:"):
        if not isinstance(fields.get("suite"), str):
            raise UsageError(f"{path}: `suite` is the path of a suite; only traffic has none.")
        suite = load_suite(path.parent / fields.pop("suite"))
        fields["suite_hash"] = suite.hash
    try:
        asked = ASKED.validate_python(fields)
        plan = declared(asked, suite)
    except ValidationError as error:
        mistake = first_mistake(error)
        field = f", {mistake.field}" if mistake.field else ""
        raise UsageError(f"{path}{field}: {mistake.said}.") from None
    if suite is not None:
        check_scaffolds(suite, [plan.target], [plan.scaffold])
    return asked, suite


def _fields(path: Path) -> dict[str, Any]:
    try:
        fields = parse_yaml(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"The monitor {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"The monitor {path} is not text in UTF-8.") from None
    except yaml.YAMLError as error:
        line = f", line {yaml_line(error)}" if yaml_line(error) else ""
        raise UsageError(f"{path}{line}: this is not YAML: {yaml_problem(error)}.") from None
    if not isinstance(fields, dict):
        raise UsageError(f"{path}: a monitor is a mapping of its fields.")
    return fields
