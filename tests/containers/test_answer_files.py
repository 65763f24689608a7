"""Answers of a live system in files, in containers that share a folder and have pyarrow."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.containers import (
    ROOT,
    ContainerPlatform,
    build_images,
    containers_marks,
    platform_in_containers,
    until,
)

pytestmark = containers_marks()
USER = 10001
READERS = ("recorder", "planner", "diagnoser", "gateway")
ANSWERS = 60
MONITOR: dict[str, Any] = {
    "name": "support",
    "target": "traffic:support",
    "window": "1h",
    "features": [{"extractor": "words", "feature": "words", "high": 100, "tolerance": 0}],
    "comparisons": [{"dimension": "gender", "a": "female", "b": "male"}],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("answers")
    os.chown(made, USER, USER)
    return made


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Iterator[ContainerPlatform]:
    build_images()
    build_images(*READERS, "--extras", "parquet")
    given = {"BIASWATCH_ANSWER_FILES": str(folder)}
    over = [ROOT / "deploy" / "compose" / "answer-files.yml"]
    with platform_in_containers(tmp_path_factory.mktemp("compose"), given, over=over) as up:
        try:
            until(lambda: up.http.get("/v1/runs").status_code == 200)
            yield up
        finally:
            print(up.logs()[-20_000:])


def answer(number: int) -> dict[str, Any]:
    return {
        "id": f"a-{number}",
        "prompt": f"Where is parcel {number}?",
        "text": f"Parcel {number} is on its way.",
        "unit": f"u-{number % 30}",
        "groups": {"gender": "female" if number % 2 else "male"},
        "at": datetime.now(UTC).isoformat(),
    }


def test_answers_are_written_into_the_folder_and_read_from_it(
    platform: ContainerPlatform, folder: Path
) -> None:
    # The extractors may not have said yet that they run.
    until(lambda: platform.ask("POST", "/v1/monitors", MONITOR))
    body = {"source": "support", "responses": [answer(n) for n in range(ANSWERS)]}
    until(lambda: platform.ask("POST", "/v1/responses", body)["accepted"] == ANSWERS)

    def exported() -> list[dict[str, Any]]:
        windows = platform.ask("GET", "/v1/monitors/support/windows")
        runs = [window["run_id"] for window in windows]
        pages = [platform.ask("GET", f"/v1/runs/{run_id}/responses") for run_id in runs]
        return [answer for page in pages for answer in page["answers"]]

    until(lambda: len(exported()) == ANSWERS)
    texts = {item["text"] for item in exported()}
    assert texts == {answer(number)["text"] for number in range(ANSWERS)}
    assert list(folder.rglob("*.parquet"))
