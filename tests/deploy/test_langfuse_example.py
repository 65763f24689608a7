"""The compose file for a team with Langfuse fits the platform's; its pipelines are whole."""

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "langfuse"


def read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(path.read_text())
    return content


def test_the_collector_reaches_the_gateway_and_the_world() -> None:
    platform, added = read(ROOT / "docker-compose.yml"), read(FOLDER / "compose.yaml")
    [(name, collector)] = added["services"].items()
    assert name not in platform["services"]
    known = platform["networks"].keys() | (added.get("networks") or {}).keys()
    assert set(collector["networks"]) <= known
    shared = set(collector["networks"]) & set(platform["services"]["gateway"]["networks"])
    assert any(not (platform["networks"][name] or {}).get("internal") for name in shared)
    mounted = collector["volumes"][0].partition(":-")[2].partition("}")[0]
    assert (ROOT / mounted) == FOLDER / "collector.yaml"


def test_every_part_of_a_pipeline_is_declared_and_every_variable_is_given() -> None:
    config, compose = read(FOLDER / "collector.yaml"), read(FOLDER / "compose.yaml")
    for pipeline in config["service"]["pipelines"].values():
        for kind in ("receivers", "processors", "exporters"):
            assert set(pipeline[kind]) <= config[kind].keys()
    variables = compose["services"]["collector"]["environment"].keys()
    text = (FOLDER / "collector.yaml").read_text()
    used = {part.partition("}")[0] for part in text.split("${env:")[1:]}
    assert used == set(variables)


def test_langfuse_and_biaswatch_get_the_same_traces() -> None:
    pipelines = read(FOLDER / "collector.yaml")["service"]["pipelines"]
    assert pipelines["traces"]["exporters"] == ["otlphttp/langfuse", "otlphttp/biaswatch"]
