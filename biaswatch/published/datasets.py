"""Published benchmarks that can be fetched, with sources, licences and meaning."""

from dataclasses import dataclass
from urllib.parse import quote

from biaswatch.published.files import PublishedFile

GITHUB = "https://raw.githubusercontent.com"
HUB = "https://huggingface.co/datasets"


@dataclass(frozen=True)
class PublishedDataset:
    """One benchmark."""

    name: str
    files: tuple[PublishedFile, ...]
    licence: str
    citation: str
    meaning: str
    """Meaning of a score, and differences from the paper's scoring."""
    problems: tuple[str, ...]
    """Known problems of the benchmark, for the page of a run, the report and `suites show`."""


def _wino(kind: str, number: int) -> PublishedFile:
    path = f"uclanlp/corefBias/master/WinoBias/wino/data/{kind}_stereotyped_type{number}.txt.test"
    return PublishedFile(f"{kind}_type{number}.txt", f"{GITHUB}/{path}")


def _iberian(language: str) -> tuple[PublishedFile, ...]:
    path = f"{GITHUB}/langtech-bsc/EsBBQ-CaBBQ/main/data_{language}"
    return tuple(
        PublishedFile(f"{language}-{part}.jsonl", f"{path}/{part}.full.jsonl")
        for part in IBERIAN_PARTS
    )


def _seegull(place: str) -> PublishedFile:
    language, _, region = place.partition(" in ")
    code = language[-3:-1]
    path = f"{GITHUB}/google-research-datasets/SeeGULL-Multilingual/main/dataset/stereotypes"
    return PublishedFile(f"{code}-{region}.csv", f"{path}/{quote(place)}.csv")


IBERIAN_PARTS = (
    "Age", "DisabilityStatus", "Gender", "LGBTQIA", "Nationality", "PhysicalAppearance",
    "RaceEthnicity", "Religion", "SES", "SpanishRegion",
)  # fmt: skip
SEEGULL_PLACES = (
    "Arabic (ar) in UAE", "Bengali (bn) in Bangladesh", "Bengali (bn) in India",
    "Dutch (nl) in Netherlands", "French (fr) in France", "German (de) in Germany",
    "Hindi (hi) in India", "Indonesian (id) in Indonesia", "Italian (it) in Italy",
    "Japanese (ja) in Japan", "Korean (ko) in Korea", "Malay (ms) in Malaysia",
    "Marathi (mr) in India", "Portuguese (pt) in Brazil", "Portuguese (pt) in Portugal",
    "Spanish (es) in Mexico", "Spanish (es) in Spain", "Swahili (sw) in Kenya",
    "Tamil (ta) in India", "Telugu (te) in India", "Thai (th) in Thailand",
    "Turkish (tr) in Turkey", "Vietnamese (vn) in Vietnam",
)  # fmt: skip
IBERIAN_TERMS = (
    "Apache 2.0 (its repository; its card on Hugging Face says CC BY 4.0)",
    "Ruiz-Fernández et al. (2025), EsBBQ and CaBBQ, arXiv 2507.11216",
)
BOLD_PARTS = ("gender", "race", "political_ideology", "religious_ideology", "profession")
UNCLEAR = (
    "Blodgett et al. (2021, ACL) found many pairs of CrowS-Pairs and StereoSet to be unclear,"
    " ungrammatical or no stereotypes."
)
LONG_TEXTS = (
    "Lum et al. (2025, ACL) found that such scores hardly rank models as their long texts do (mean"
    " rank correlation .12)."
)
KNOWN = "The texts are public, so a model may have been trained on them."
DATASETS = {
    dataset.name: dataset
    for dataset in (
        PublishedDataset(
            "crows-pairs",
            (
                PublishedFile(
                    "crows_pairs_anonymized.csv",
                    f"{GITHUB}/nyu-mll/crows-pairs/master/data/crows_pairs_anonymized.csv",
                ),
            ),
            "CC BY-SA 4.0",
            "Nangia, Vania, Bhalerao, Bowman (2020), CrowS-Pairs, EMNLP",
            "The share of pairs whose more stereotyping sentence is preferred; 50 is ideal. The"
            " paper compares pseudo-likelihoods; here the model chooses the sentence that is more"
            " likely to be written, in an order drawn by seed.",
            (UNCLEAR, LONG_TEXTS, KNOWN),
        ),
        PublishedDataset(
            "crows-pairs-fr",
            (
                PublishedFile(
                    "crows_pairs_FR.csv",
                    "https://gitlab.inria.fr/french-crows-pairs/acl-2022-paper-data-and-code/-/raw"
                    "/main/data/crows_pairs_FR_languagearc_contribution+210.csv",
                ),
            ),
            "CC BY-SA 4.0",
            "Névéol, Dupont, Bezançon, Fort (2022), French CrowS-Pairs, ACL",
            "As crows-pairs, with sentences in French; the question stays in English.",
            ("Its pairs are translations of CrowS-Pairs, and 210 new ones.", UNCLEAR, KNOWN),
        ),
        PublishedDataset(
            "kobbq",
            (
                PublishedFile(
                    "KoBBQ_test_samples.tsv",
                    f"{GITHUB}/naver-ai/KoBBQ/main/data/KoBBQ_test_samples.tsv",
                ),
            ),
            "MIT",
            "Jin, Kim, Lee, Yoo, Oh, Lee (2024), KoBBQ, TACL",
            "Accuracy by context, in which the evidence is missing (ambiguous), agrees with the"
            " stereotype (biased) or contradicts it; and the bias in ambiguous contexts: the share"
            " of stereotyped answers less that of the opposite ones. In Korean.",
            (
                "The test set has one sample of each template, so intervals are wide.",
                "The paper averages five prompts; here there is one.",
                LONG_TEXTS,
                KNOWN,
            ),
        ),
        *(
            PublishedDataset(
                f"{code}bbq",
                _iberian(code),
                *IBERIAN_TERMS,
                f"As kobbq, in {language}, about groups in Spain. The paper compares likelihoods"
                " and many wordings of `unknown`; here the model chooses, and there is one.",
                (
                    "Intervals count templates, because the rows of a template are alike.",
                    LONG_TEXTS,
                    KNOWN,
                ),
            )
            for code, language in (("es", "Spanish"), ("ca", "Catalan"))
        ),
        PublishedDataset(
            "seegull",
            tuple(map(_seegull, SEEGULL_PLACES)),
            "CC BY 4.0",
            "Bhutani, Robinson, Prabhakaran, Dave, Dev (2024), SeeGULL Multilingual, ACL",
            "Stereotypes on which two of three annotators of a place agree, in 20 languages: the"
            " share of answers that it cannot be known whom an attribute describes, and the share"
            " that choose the stereotyped identity less that of the other, which is drawn by seed."
            " The questions are ours, in English.",
            (
                "The pairs were generated by a language model, and many are offensive.",
                "Identities are demonyms, most in one gender, often not in the attribute's form.",
                LONG_TEXTS,
                KNOWN,
            ),
        ),
        PublishedDataset(
            "stereoset",
            (PublishedFile("dev.json", f"{GITHUB}/moinnadeem/StereoSet/master/data/dev.json"),),
            "CC BY-SA 4.0",
            "Nadeem, Bethke, Reddy (2021), StereoSet, ACL",
            "lms: meaningful preferred to unrelated texts; ss: stereotypes preferred to"
            " anti-stereotypes, 50 is ideal; icat combines both. The paper compares likelihoods;"
            " here each of the three comparisons of an example is a choice between two.",
            (UNCLEAR, LONG_TEXTS, KNOWN),
        ),
        PublishedDataset(
            "winobias",
            tuple(_wino(kind, number) for kind in ("pro", "anti") for number in (1, 2)),
            "MIT",
            "Zhao, Wang, Yatskar, Ordonez, Chang (2018), Gender bias in coreference, NAACL",
            "Accuracy where the pronoun's gender follows the stereotype of the occupation (pro) and"
            " where not (anti); the difference is the bias. The paper has F1 of a coreference"
            " system; here the model chooses one of the two occupations.",
            (LONG_TEXTS, "Occupations have the shares of one country and year.", KNOWN),
        ),
        PublishedDataset(
            "discrim-eval",
            (
                PublishedFile(
                    "explicit.jsonl", f"{HUB}/Anthropic/discrim-eval/resolve/main/explicit.jsonl"
                ),
            ),
            "CC BY 4.0",
            "Tamkin et al. (2023), Evaluating and mitigating discrimination, arXiv 2312.03689",
            "Log-odds of a favourable decision less those of a white man of 60; 0 is no difference."
            " The paper takes probabilities of tokens (--likelihood); else these are shares of"
            " answers: run it with --repeats 5 or more.",
            (
                "Yes or no without a file to decide on: how a model answers, not how it decides.",
                KNOWN,
            ),
        ),
        PublishedDataset(
            "decodingtrust-stereotype",
            (
                PublishedFile(
                    "user_prompts.csv",
                    f"{GITHUB}/AI-secure/DecodingTrust/main/data/stereotype/dataset/user_prompts.csv",
                ),
            ),
            "CC BY-SA 4.0",
            "Wang et al. (2023), DecodingTrust, NeurIPS, part on stereotypes",
            "The share of answers that agree with a stereotype, by group, under the paper's benign"
            " system prompt. The paper takes 25 answers to a prompt: --repeats 25.",
            ("The statements are offensive.", "Refusals count as disagreement.", KNOWN),
        ),
        PublishedDataset(
            "bold",
            tuple(
                PublishedFile(
                    f"{part}_prompt.json",
                    f"{GITHUB}/amazon-science/bold/main/prompts/{part}_prompt.json",
                )
                for part in BOLD_PARTS
            ),
            "CC BY-SA 4.0 (its card; the card's metadata say CC BY 4.0)",
            "Dhamala et al. (2021), BOLD, FAccT",
            "The share of continuations with a VADER score from .5 on (positive) and up to -.5"
            " (negative), by group, as in the paper; its other measures are extractors here.",
            ("VADER itself scores some names of groups differently: see calibration.", KNOWN),
        ),
        PublishedDataset(
            "real-toxicity-prompts",
            (
                PublishedFile(
                    "prompts.jsonl",
                    f"{HUB}/allenai/real-toxicity-prompts/resolve/main/prompts.jsonl",
                ),
            ),
            "Apache 2.0",
            "Gehman, Gururangan, Sap, Choi, Smith (2020), RealToxicityPrompts, Findings of EMNLP",
            "The mean over prompts of the most toxic of several continuations, and the share of"
            " prompts with one of toxicity .5 or more. The paper takes 25 continuations"
            " (--repeats 25) and the Perspective API; here the extractor `toxicity` measures.",
            (
                "The texts are offensive.",
                "Scores of classifiers cannot be compared with Perspective's.",
                "Classifiers score texts that mention some groups as more toxic.",
                KNOWN,
            ),
        ),
        PublishedDataset(
            "holistic-bias",
            tuple(
                PublishedFile(
                    f"{part}.json",
                    f"{GITHUB}/facebookresearch/ResponsibleNLP/main/holistic_bias/dataset/v1.1"
                    f"/{part}.json",
                )
                for part in ("descriptors", "sentence_templates")
            ),
            "CC BY-SA 4.0",
            "Smith, Hall, Kambadur, Presani, Williams (2022), HolisticBias, EMNLP",
            "The share of pairs of descriptors of an axis whose answers differ by a Mann-Whitney"
            " test; 5 is what chance gives. The paper compares perplexities of the sentences within"
            " a template, over all nouns; here VADER's reading of the answers, over the templates"
            " with the nouns person and people.",
            ("Many descriptors are dispreferred or insulting; the file marks them.", KNOWN),
        ),
    )
}
LEFT_OUT = {
    "mbbq": "its repository (Veranep/MBBQ) states no licence",
    "seegull-english": "its authors give it to those who ask; `seegull` is multilingual",
    "shades": "its files are given only to those who accept its terms on Hugging Face",
    "bharatbbq": "no address of the authors with a licence was found",
    "implicitbbq": "its repository states no licence",
    "saged": "its authors' repository (MIT) holds the pipeline and no benchmark; tables of its form"
    " are read by `biaswatch run` as suites with probes in CSV",
}
"""Benchmarks that cannot be fetched, with the reason."""
