"""Calls every operation of a generated client; runs in its environment, which lacks ours."""

import importlib
import inspect
import json
import pkgutil
import sys
import typing
from pathlib import Path
from typing import Any

folder, url, samples = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
sys.path.insert(0, str(folder.parent))
package = importlib.import_module(folder.name)


def body_for(module: Any, name: str) -> Any:
    """Return the body that the operation takes, made of a sample."""
    kind = typing.get_type_hints(module.sync_detailed)["body"]
    models = [item for item in (kind, *typing.get_args(kind)) if hasattr(item, "from_dict")]
    return models[0].from_dict(samples["bodies"].get(name, {}))


def given(module: Any, name: str) -> dict[str, Any]:
    """Return what an operation has to be called with."""
    result = {}
    for parameter in inspect.signature(module.sync_detailed).parameters.values():
        if parameter.name == "body":
            result["body"] = body_for(module, name)
        elif parameter.default is inspect.Parameter.empty and parameter.name != "client":
            result[parameter.name] = samples["paths"].get(parameter.name, "x")
    return result


replies = {}
client = package.Client(base_url=url, timeout=30)
for operation in pkgutil.iter_modules([str(folder / "api" / "default")]):
    if operation.name in samples["streams"]:
        continue
    module = importlib.import_module(f"{package.__name__}.api.default.{operation.name}")
    reply = module.sync_detailed(client=client, **given(module, operation.name))
    replies[operation.name] = [int(reply.status_code), type(reply.parsed).__name__]
print(json.dumps(replies))
