"""The objects of the other manifests, as the chart takes them: in the namespace of the release."""

import yaml

from tools.deployment.chart.templating import Filled, Object
from tools.deployment.services import ROOT

K8S = ROOT / "deploy" / "k8s"
NAMESPACE = Filled(".Release.Namespace")


def read(part: str) -> list[Object]:
    """Return the objects of a hand-written manifest, in the release's namespace."""
    return [released(each) for each in yaml.safe_load_all((K8S / part).read_text()) if each]


def released(each: Object) -> Object:
    """Return an object in the namespace of the release."""
    meta = {"name": each["metadata"]["name"], "namespace": NAMESPACE}
    return {**each, "metadata": meta | each["metadata"]}
