"""Settings of the simulator, read from `BIASWATCH_SIMULATOR_...`."""

import json
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from biaswatch.services.simulator.domain.planted_bias import (
    DEFAULT_MARKERS,
    DEFAULT_MODELS,
    Faults,
    Markers,
    PlantedModel,
)


@cache
def known_markers() -> Markers:
    """Return the words of the demonstration and the names of the shipped suites."""
    text = Path(__file__).with_name("suite_names.json").read_text(encoding="utf-8")
    names: dict[str, list[str]] = json.loads(text)
    return {**{name: tuple(groups) for name, groups in names.items()}, **DEFAULT_MARKERS}


class SimulatorSettings(BaseSettings):
    """Settings of the simulator, which has neither bus nor store."""

    model_config = SettingsConfigDict(
        env_prefix="BIASWATCH_SIMULATOR_", env_ignore_empty=True, extra="ignore", frozen=True,
        use_attribute_docstrings=True,
    )  # fmt: skip

    host: str = "127.0.0.1"
    """The address it listens on; 0.0.0.0 in a container."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8090
    """The port it listens on; 0 chooses a free one, which is printed."""
    seed: int = 0
    """Seed of the answers; planted effects do not depend on it."""
    plants: dict[str, PlantedModel] = {}
    """Models by name, as JSON, which add to or replace the default models."""
    markers: dict[str, tuple[str, ...]] = Field(default_factory=lambda: dict(known_markers()))
    """Groups by word, as JSON; by default the words of the demonstration and of shipped suites."""
    faults: Faults = Faults()
    """Faults of models without their own, as JSON."""
    api_key: SecretStr | None = None
    """The only key accepted; without it, any key or none."""

    @property
    def models(self) -> dict[str, PlantedModel]:
        """All models by name."""
        return {**DEFAULT_MODELS, **self.plants}
