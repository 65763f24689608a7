"""From answers to findings: groups, comparisons, changes, labels, studies and monitors."""
