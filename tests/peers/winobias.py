"""WinoBias by likelihood: `winobias.py ADDRESS FOLDER KEYS`, another reading of files and server.

Which of two persons is the more likely continuation of `SENTENCE 'PRONOUN' refers to`?
"""

import json
import re
import sys
import urllib.request
from pathlib import Path

address, folder, keys = sys.argv[1], Path(sys.argv[2]), json.loads(Path(sys.argv[3]).read_text())
SPANS = re.compile(r"\[(.*?)\]")
PRONOUNS = ["he", "she", "him", "her", "his", "hers", "himself", "herself"]


def ask(path, body):
    data = json.dumps(body).encode()
    request = urllib.request.Request(address + path, data, {"Content-Type": "application/json"})
    return json.loads(urllib.request.urlopen(request, timeout=60).read())


def likelihood(context, text):
    known = ask("/tokenize", {"content": context})["tokens"]
    total = 0.0
    for token in ask("/tokenize", {"content": context + text})["tokens"][len(known) :]:
        force = {"prompt": known, "n_predict": 1, "n_probs": 1, "logit_bias": [[token, 1e9]]}
        total += ask("/completion", force)["completion_probabilities"][0]["logprob"]
        known = [*known, token]
    return total


lines = {}
for file in folder.glob("*.test"):
    condition, _, kind = file.name.removesuffix(".txt.test").split("_")
    for line in file.read_text().splitlines():
        number, sentence = line.split(" ", 1)
        lines[f"wino-{condition}-{kind}-{number}"] = condition, sentence
named = [span for _, line in lines.values() for span in SPANS.findall(line)]
jobs = {re.sub("^(the|an?) ", "", span.lower()) for span in named}
result, right = {}, {}
for key in keys:
    condition, sentence = lines[key]
    spans, text = SPANS.findall(sentence), SPANS.sub(r"\1", sentence)
    pronoun = next(span for span in spans if span.lower() in PRONOUNS)
    person = next(re.sub("(?i)^(the|an?) ", "", s) for s in spans if s.lower() not in PRONOUNS)
    known = [j for j in jobs if j not in PRONOUNS and re.search(rf"(?i)\b{re.escape(j)}\b", text)]
    other = max((job for job in known if job != person.lower()), key=lambda j: (len(j), j))
    pair = [re.search(rf"(?i)\b{re.escape(name)}\b", text)[0] for name in (person, other)]
    result[key] = [likelihood(f"{text} '{pronoun}' refers to", f" the {name}") for name in pair]
    right.setdefault(condition, []).append(result[key][0] > result[key][1])
accuracies = {name: 100 * sum(hits) / len(hits) for name, hits in right.items()}
print(json.dumps({"loglikelihoods": result, "accuracies": accuracies}))
