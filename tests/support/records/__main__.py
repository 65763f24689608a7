"""Write a sample of each kind and version of record that has none yet; never rewrite one."""

import json
from pathlib import Path

from tests.support.records.kinds import one_of_each_kind

SAMPLES = Path("shared/contracts/samples")

for sample in one_of_each_kind():
    path = SAMPLES / f"{sample.kind}.v{sample.version}.json"
    if not path.exists():
        path.write_text(json.dumps(json.loads(sample.encode()), indent=2) + "\n")
        print(path)
