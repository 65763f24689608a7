"""Monitors as files: read, checked, and told what is wrong with them in one sentence."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from biaswatch.readers.suites import load_suite
from biaswatch.readers.targets import check_scaffolds, with_file
from biaswatch.shared.contracts import TRAFFIC, Suite
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import read_text, sentence, yaml_mapping

if TYPE_CHECKING:
    from biaswatch.shared.requests.monitors import MonitorRequest, TrafficMonitorRequest


def load_monitor(
    path: Path, sent: Callable[[str], str] = with_file
) -> "tuple[MonitorRequest | TrafficMonitorRequest, Suite | None]":
    """Read a monitor's file and its suite, which the file names beside itself.

    A monitor of production traffic has none. `sent` returns a target as it is sent to the gateway.

    Raises
    ------
    UsageError
        Something cannot be read, or is wrong; the file and the field are named.
    """
    from biaswatch.shared.analysis.monitors.plans import AskedSets, plan_of
    from biaswatch.shared.requests.monitors import MONITOR_REQUEST

    fields = yaml_mapping(read_text(path, "monitor"), path, "a monitor is a mapping of its fields")
    suite = None
    if isinstance(fields.get("target"), str):
        fields["target"] = sent(fields["target"])
    if not str(fields.get("target")).startswith(f"{TRAFFIC}:"):
        if not isinstance(fields.get("suite"), str):
            raise UsageError(f"{path}: `suite` is the path of a suite; only traffic has none.")
        suite = load_suite(path.parent / fields.pop("suite"))
        fields["suite_hash"] = suite.hash
    try:
        asked = MONITOR_REQUEST.validate_python(fields)
        plan = plan_of(asked, AskedSets.of_suite(suite) if suite else None)
    except ValidationError as error:
        raise UsageError(sentence(error, path)) from None
    if suite is not None:
        check_scaffolds(suite, [plan.target], [plan.scaffold])
    return asked, suite
