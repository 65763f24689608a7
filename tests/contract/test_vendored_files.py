"""What is shipped of others: as its maker published it, under a licence that is kept beside it."""

import json
from hashlib import sha256
from pathlib import Path

from biaswatch.services.gateway.dashboard import rendering
from biaswatch.services.gateway.dashboard.rendering import MEDIA_TYPES, static_file

FOLDER = Path(rendering.__file__).parent / "static"
KEPT = json.loads((FOLDER / "vendored.json").read_text())
SINKS = ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "new Function", "document.write")


def test_the_library_is_byte_for_byte_what_was_published() -> None:
    result = {name: sha256((FOLDER / name).read_bytes()).hexdigest() for name in KEPT["files"]}
    assert result == {name: entry["sha256"] for name, entry in KEPT["files"].items()}
    assert all(KEPT["version"] in name for name in KEPT["files"])


def test_its_licence_is_kept_beside_it_and_is_permissive() -> None:
    [licence] = [name for name in KEPT["files"] if "LICENSE" in name]
    text = (FOLDER / licence).read_text()
    assert KEPT["license"] == "MIT"
    assert "MIT License" in text
    assert "Copyright" in text


def test_every_file_is_served_and_no_other() -> None:
    there = {path.name for path in FOLDER.iterdir()} - {"vendored.json"}
    assert there == set(MEDIA_TYPES)
    assert all(static_file(name).body for name in MEDIA_TYPES)


def test_no_script_makes_html_or_code_of_a_string() -> None:
    for name in (item for item in MEDIA_TYPES if item.endswith(".js")):
        source = static_file(name).body.decode()
        assert [sink for sink in SINKS if sink in source] == [], name
