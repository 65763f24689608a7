"""Files of monitors: read with their suite, planned before they start, every mistake a sentence."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from biaswatch.readers.suites import load_monitor
from biaswatch.shared.contracts import Claim
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.monitors import MonitorRequest

PROBES = [
    {
        "key": f"{set_}-{group}",
        "set": f"s{set_}",
        "groups": {"concept": group},
        "prompt": "Describe the coast." * 2,
    }
    for set_ in range(10)
    for group in ("France", "Peru")
]
SUITE = {"name": "coasts", "extractors": ["words"], "probes": PROBES}
FIELDS: dict[str, Any] = {
    "name": "coasts",
    "suite": "coasts.yaml",
    "target": "simulator:unbiased",
    "cadence": "6h",
    "features": [{"extractor": "words", "feature": "words", "high": 10, "tolerance": 0.5}],
    "comparisons": [{"dimension": "concept", "a": "France", "b": "Peru"}],
}


def written(folder: Path, **fields: Any) -> Path:
    (folder / "coasts.yaml").write_text(yaml.safe_dump(SUITE))
    path = folder / "monitor.yaml"
    path.write_text(yaml.safe_dump({**FIELDS, **fields}))
    return path


def test_a_monitors_file_is_read_with_the_suite_beside_it(tmp_path: Path) -> None:
    asked, suite = load_monitor(written(tmp_path))
    assert isinstance(asked, MonitorRequest)
    assert suite is not None
    assert asked.name == "coasts"
    assert asked.suite_hash == suite.hash
    assert asked.claim is Claim.BANK
    assert len(suite.probes) == len(PROBES)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"cadense": "6h"}, "cadense"),
        ({"cadence": "often"}, "cadence"),
        ({"alpha": 2}, "alpha"),
        ({"suite": 3}, "`suite` is the path"),
        ({"suite": "nowhere.yaml"}, "nowhere.yaml"),
        ({"claim": "population"}, "sets_per_round"),
        ({"comparisons": [{"dimension": "concept", "a": "France", "b": "Atlantis"}]}, "Atlantis"),
        ({"comparisons": [{"dimension": "concept", "a": "Peru", "b": "Peru"}]}, "itself"),
        ({"target": "simulator"}, "target"),
    ],
)
def test_a_mistake_in_a_monitors_file_is_a_sentence_that_names_it(
    tmp_path: Path, fields: dict[str, Any], named: str
) -> None:
    path = written(tmp_path, **fields)
    with pytest.raises(UsageError) as refused:
        load_monitor(path)
    assert named in str(refused.value)
    assert str(refused.value).endswith(".")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("text", ["a: [", "- 1", "\x00"])
def test_what_is_no_monitors_file_is_refused_by_its_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "monitor.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"monitor\.yaml"):
        load_monitor(path)
    with pytest.raises(UsageError, match="cannot be read"):
        load_monitor(tmp_path / "nowhere.yaml")
