"""What the statements about a pair of questions are called on pages and in reports."""

STATEMENTS = {
    "answer_consistent": "same person in both",
    "different": "different persons",
    "mixed": "mixed with cannot-know",
    "both_unknown": "both cannot-know",
    "flag_1": "flag 1 (A to B: no)",
    "flag_2": "flag 2 (B to A: no)",
    "flag_3": "flag 3 (question A not guessed)",
    "flag_4": "flag 4 (question B not guessed)",
    "flagged": "any flag",
    "own_a": "reasoning A fits its own question",
    "own_b": "reasoning B fits its own question",
    "compatible": "both answers can be right",
}
