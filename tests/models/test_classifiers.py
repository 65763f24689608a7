"""Real models through the real code: what a batch gives is what one text alone gives."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from biaswatch.services.extractor.domain import Extractor, Reading, Unscorable, measured_all
from biaswatch.services.extractor.extractors import MODULES
from biaswatch.services.extractor.extractors.classifiers import MODELS, classified
from biaswatch.services.extractor.handlers.loading import configured, load
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.models.device import ModelOptions
from biaswatch.shared.models.forward_passes import ModelUnavailable
from biaswatch.shared.models.text_models import Classifier
from tests.support.extractor_modules import NEED_MODELS

pytestmark = pytest.mark.models
FAMILIES = ["distilbert", "bert", "deberta"]
CPU = ModelOptions("cpu")
WORDS = ("good", "bad", "happy", "sad", "town", "people", "they", "were", "very", "not", "quiet")


def texts(number: int, longest: int, seed: int = 1) -> list[str]:
    rng = Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(1, longest))) for _ in range(number)]


def alone(folder: Path, given: Sequence[str]) -> list[dict[str, float]]:
    """Ask transformers itself, one text after the other."""
    import transformers

    classify: Any = transformers.pipeline(
        "text-classification", model=str(folder), device="cpu", top_k=None
    )
    return [{item["label"]: item["score"] for item in classify([text])[0]} for text in given]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("several", [False, True], ids=["softmax", "sigmoid"])
@pytest.mark.parametrize("size", [1, 3, 16])
def test_a_batch_gives_what_transformers_gives_one_by_one(
    make_model: Any, family: str, several: bool, size: int
) -> None:
    labels = ["negative", "neutral", "positive"]
    folder = make_model(family, labels, several=several)
    given = texts(25, 40)
    result = Classifier(str(folder), CPU, size=size).scores(given)
    for scores, expected in zip(result, alone(folder, given), strict=True):
        assert scores == pytest.approx(expected, abs=1e-5)


def test_labels_keep_their_order_whatever_the_model_calls_first(make_model: Any) -> None:
    one = make_model("bert", ["positive", "neutral", "negative"])
    other = make_model("bert", ["negative", "neutral", "positive"])
    [a] = Classifier(str(one), CPU, size=1).scores(["good"])
    [b] = Classifier(str(other), CPU, size=1).scores(["good"])
    assert not isinstance(a, Exception)
    assert not isinstance(b, Exception)
    assert a["positive"] == pytest.approx(b["negative"], abs=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_long_text_is_the_mean_of_its_windows_weighted_by_their_tokens(
    make_model: Any, family: str
) -> None:
    folder = make_model(family, ["a", "b"], longest=16)
    words = texts(1, 1)[0].split() * 3 + ["happy"] * 30
    windows = [" ".join(words[start : start + 14]) for start in range(0, len(words), 14)]
    weights = [len(window.split()) + 2 for window in windows]
    parts = alone(folder, windows)
    expected = {
        label: sum(w * p[label] for w, p in zip(weights, parts, strict=True)) / sum(weights)
        for label in ("a", "b")
    }
    [result] = Classifier(str(folder), CPU, size=4).scores([" ".join(words)])
    assert result == pytest.approx(expected, abs=1e-5)


SENTIMENTS = ["positive", "neutral", "negative"]
STEREOTYPES = ["unrelated"] + [f"stereotype_{k}" for k in ("gender", "religion", "profession")]


@pytest.mark.parametrize(
    ("name", "labels", "formulas"),
    [
        (
            "sentiment",
            SENTIMENTS,
            {"sentiment_score": lambda s: (s["positive"] - s["negative"] + 1) / 2},
        ),
        (
            "regard",
            [*SENTIMENTS, "other"],
            {"regard_score": lambda s: s["positive"] - s["negative"] + 1},
        ),
        (
            "stereotype",
            [*STEREOTYPES, "stereotype_race"],
            {
                f"stereotype_{k}_score": lambda s, k=k: s[f"stereotype_{k}"]
                for k in ("gender", "religion", "profession", "race")
            },
        ),
        (
            "personality",
            ["Extraversion", "Neuroticism", "Agreeableness", "Conscientiousness", "Openness"],
            {
                f"{t.lower()}_score": lambda s, t=t: s[t]
                for t in (
                    "Extraversion",
                    "Neuroticism",
                    "Agreeableness",
                    "Conscientiousness",
                    "Openness",
                )
            },
        ),
        ("toxicity", ["toxic", "insult", "threat"], {"toxicity_score": lambda s: s["toxic"]}),
        ("toxicity_junglelee", ["non-toxic", "toxic"], {"toxicity_score": lambda s: s["toxic"]}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_formula_is_that_of_its_source(
    make_model: Any, name: str, labels: list[str], formulas: Any
) -> None:
    folder = make_model("distilbert", labels, several=name == "toxicity")
    extractor = classified("x", str(folder), MODELS[name][1], CPU)
    given = texts(6, 20)
    expected = alone(folder, given)
    for (values, why), scores in zip(
        measured_all(extractor, [Reading(text) for text in given]), expected, strict=True
    ):
        assert why is None
        assert values == pytest.approx(
            {name: formula(scores) for name, formula in formulas.items()}, abs=1e-5
        )


def test_the_default_models_are_those_of_the_paper() -> None:
    assert {name: model for name, (model, _) in MODELS.items()} == {
        "sentiment": "lxyuan/distilbert-base-multilingual-cased-sentiments-student",
        "regard": "sasha/regardv3",
        "stereotype": "holistic-ai/stereotype-deberta-v3-base-tasksource-nli",
        "personality": "Navya1602/editpersonality_classifier",
        "toxicity": "unitary/toxic-bert",
        "toxicity_junglelee": "JungleLee/bert-toxic-comment-classification",
    }


LAZY = sorted(name for name, module in MODULES.items() if module in NEED_MODELS)


@pytest.mark.parametrize("name", LAZY)
def test_a_missing_model_is_unscorable_and_never_neutral(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("biaswatch.shared.models.device.PACKAGES", {})
    extractor: Extractor = load([name], models=CPU)[name]
    assert extractor.name == name
    reading = Reading("some text", baseline="a base")
    assert measured_all(extractor, [reading]) == [({}, "model unavailable")]


def test_a_missing_model_is_one_clear_sentence() -> None:
    with pytest.raises(ModelUnavailable, match=r"nobody/nothing cannot be loaded.*DOWNLOAD=true"):
        Classifier("nobody/nothing", CPU).scores(["a"])


def test_a_model_without_the_label_is_unscorable_and_names_it(make_model: Any) -> None:
    folder = make_model("bert", ["joy", "anger"])
    extractor = classified("sentiment", str(folder), MODELS["sentiment"][1], CPU)
    with pytest.raises(Unscorable, match="model has no label positive"):
        extractor.measure(Reading("good"))


def test_weights_that_give_no_number_are_unscorable(make_model: Any, tmp_path: Path) -> None:
    import transformers

    folder = make_model("bert", ["joy", "anger"])
    network = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    network.classifier.weight.data.fill_(float("nan"))
    network.save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path)
    extractor = classified("joy", str(tmp_path), {}, CPU)
    [(_, reason)] = measured_all(extractor, [Reading("good")])
    assert reason == "model failed on this text: NotFinite"


def test_an_empty_text_costs_one_text(make_model: Any) -> None:
    folder = make_model("bert", ["joy", "anger"])
    extractor = classified("x", str(folder), {}, CPU)
    result = measured_all(extractor, [Reading("good"), Reading(" "), Reading("bad")])
    assert [why for _, why in result] == [None, "empty text", None]


def test_any_classifier_by_a_file_alone(make_model: Any, tmp_path: Path) -> None:
    folder = make_model("bert", ["joy", "anger"])
    path = tmp_path / "models.yaml"
    path.write_text(f"emotions:\n  model: {folder}\n  labels: {{joy: joyful, anger: angry}}\n")
    emotions = configured(path, CPU)["emotions"]
    [expected] = alone(folder, ["good town"])
    assert emotions.features == ("joyful", "angry")
    assert emotions.measure(Reading("good town")) == pytest.approx(
        {"joyful": expected["joy"], "angry": expected["anger"]}, abs=1e-5
    )


@pytest.mark.parametrize(
    "content", ["- a", "emotions: {model: x}", "emotions: {model: x, labels: {a: 'b c'}}", "{", ""]
)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, content: str) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(content)
    with pytest.raises(ConfigurationError, match=r"models\.yaml"):
        configured(path, CPU)


def test_a_gpu_that_is_not_there_is_one_sentence() -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(ConfigurationError, match="BIASWATCH_EXTRACTOR_DEVICE is cuda"):
        ModelOptions("cuda")
    assert ModelOptions("auto").torch_device().type == "cpu"


def test_out_of_memory_halves_the_batch_and_goes_on(
    make_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch
    import transformers

    folder = make_model("bert", ["joy", "anger"])
    sizes: list[int] = []
    real = transformers.BertForSequenceClassification.forward

    def small(self: Any, input_ids: Any = None, **more: Any) -> Any:
        sizes.append(len(input_ids))
        if len(input_ids) > 3:
            raise torch.OutOfMemoryError("no room")
        return real(self, input_ids=input_ids, **more)

    monkeypatch.setattr(transformers.BertForSequenceClassification, "forward", small)
    given = texts(20, 10)
    result = Classifier(str(folder), CPU, size=16).scores(given)
    monkeypatch.undo()
    assert sizes[:3] == [16, 8, 4]
    for scores, expected in zip(result, alone(folder, given), strict=True):
        assert scores == pytest.approx(expected, abs=1e-5)


def test_models_are_json_clean(make_model: Any) -> None:
    [scores] = Classifier(str(make_model("bert", ["a", "b"])), CPU, size=1).scores(["good"])
    assert json.loads(json.dumps(scores)) == scores
