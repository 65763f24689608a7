"""How much a text exclaims."""

VERSION = "1"
FEATURES = ("exclamations",)
INSTRUMENT = "counts of exclamation marks"


def measure(text):
    return {"exclamations": text.count("!")}
