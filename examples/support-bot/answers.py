"""Print 400 made-up answers of a support bot that refuses women more often, as a batch to post."""

import json
import secrets
from collections.abc import Iterator

USERS = 200  # of each group
REFUSED_OF_TEN = {"women": 4, "men": 1}
REFUSAL = "I am sorry, but I cannot help with that."
HELP = "Your parcel is on its way and arrives tomorrow."


def answers(batch: str) -> Iterator[dict[str, object]]:
    """Yield one answer to each user."""
    for number in range(USERS):
        for group, refused in REFUSED_OF_TEN.items():
            yield {
                "id": f"{batch}-{group}-{number}",
                "unit": f"user-{batch}-{group}-{number}",
                "groups": {"gender": group},
                "text": REFUSAL if number % 10 < refused else HELP,
            }


if __name__ == "__main__":
    new_users = secrets.token_hex(4)  # returning users would add no evidence
    print(json.dumps({"source": "support-bot", "responses": list(answers(new_users))}))
