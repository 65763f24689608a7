"""Labels of people: samples to label, labels that come in, and what they make of findings."""
