"""What `helm test` runs: a study on the simulated model, by a script that needs Python alone."""

import asyncio
import sys
from pathlib import Path

from biaswatch.local.platform import embedded_platform
from biaswatch.shared.runtime.settings import Settings, load_settings

FILES = Path(__file__).parents[2] / "deploy" / "helm" / "biaswatch" / "files"


async def test_the_study_finds_the_planted_bias_through_the_gateway(tmp_path: Path) -> None:
    settings = load_settings(Settings).model_copy(update={"state_dir": tmp_path})
    async with embedded_platform(settings) as platform:
        words = [platform.url, str(FILES / "hiring-demo.json"), str(tmp_path / "no-token")]
        study = await asyncio.create_subprocess_exec(
            sys.executable, "-I", str(FILES / "study.py"), *words, stdout=asyncio.subprocess.PIPE
        )
        text, _ = await study.communicate()
    assert study.returncode == 0
    assert "asked 192 questions; disparities: " in text.decode()
