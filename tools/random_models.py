"""Models with random weights in the architectures of real extractors, and texts for them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = (*LETTERS, *(first + second for first in LETTERS for second in LETTERS))
TOXICITY_LABELS = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")
LOGIT_SD = 2.0
"""Standard deviation of the logits, so that scores cover the range from 0 to 1."""
BERT_VOCABULARY = 30_522
HEAD_WIDTH = 32


@dataclass(frozen=True)
class EncoderSize:
    """Number of layers and width of an encoder."""

    layers: int
    width: int


def sample_texts(number: int, seed: int) -> list[str]:
    """Return texts of 3 to 250 made-up words; their lengths are skewed like those of answers."""
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.lognormal(3.6, 0.9, number), 3, 250).astype(int)
    return [" ".join(rng.choice(WORDS, length)) for length in lengths]


def word_tokenizer() -> Any:
    """Return a tokenizer with one token for each word of `sample_texts`."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    ids = {word: number for number, word in enumerate((*SPECIAL_TOKENS, *WORDS))}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token=SPECIAL_TOKENS[1]))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])]
    )
    roles = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    special = dict(zip(roles, SPECIAL_TOKENS, strict=True))
    wrapped: Any = PreTrainedTokenizerFast
    return wrapped(tokenizer_object=tokenizer, model_max_length=512, **special)


def bert_config(size: EncoderSize, **options: Any) -> Any:
    """Return the configuration of a BERT encoder of this size."""
    from transformers import BertConfig

    return BertConfig(
        vocab_size=BERT_VOCABULARY,
        hidden_size=size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=12 if size.width % 12 == 0 else size.width // HEAD_WIDTH,
        intermediate_size=4 * size.width,
        **options,
    )


def write_classifier(folder: Path, size: EncoderSize) -> str:
    """Write a toxicity classifier like `unitary/toxic-bert`; return its folder."""
    import torch
    from transformers import BertForSequenceClassification

    tokenizer = word_tokenizer()
    labels = dict(enumerate(TOXICITY_LABELS))
    network: Any = BertForSequenceClassification(
        bert_config(size, problem_type="multi_label_classification", id2label=labels)
    )
    network.eval()
    tokens = tokenizer(sample_texts(32, 1), padding=True, return_tensors="pt")
    with torch.no_grad():
        network.classifier.weight *= LOGIT_SD / network(**tokens).logits.std(dim=0).mean()
        network.classifier.bias -= network(**tokens).logits.mean(dim=0)
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def write_embedder(folder: Path, size: EncoderSize) -> str:
    """Write a sentence-transformers model like `all-MiniLM-L6-v2`; return its folder."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from transformers import BertModel

    encoder = str(folder / "encoder")
    BertModel(bert_config(size)).save_pretrained(encoder)
    word_tokenizer().save_pretrained(encoder)
    modules = [Transformer(encoder), Pooling(size.width), Normalize()]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder / "model"))
    return str(folder / "model")
