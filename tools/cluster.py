"""Start a cluster on this machine by kind, k3d or minikube, with our images; or remove it."""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

NAME = "biaswatch"
ROOT = Path(__file__).parents[1]
KUBECONFIG = ROOT / "build" / "cluster" / "kubeconfig"
NOWHERE = (
    "None of kind, k3d and minikube is installed. Install one of them (each needs a container"
    " engine), or name your own cluster: KUBECONFIG=... pytest tests/cluster -m cluster."
)
KIND = """kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
nodes:
  - role: control-plane
  - role: worker
  - role: worker
"""


def run(*words: str, stdin: str | None = None) -> None:
    """Print and run a command; exit with its code where it fails."""
    print("+", *words, flush=True)
    environment = {**os.environ, "KUBECONFIG": str(KUBECONFIG)}  # noqa: TID251 - passed on
    done = subprocess.run(words, input=stdin, text=True, env=environment, check=False)
    if done.returncode:
        sys.exit(done.returncode)


def known_to(*words: str) -> bool:
    """Return whether a tool lists our cluster."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return NAME in done.stdout.split()


def kind(images: list[str]) -> None:
    """Make a cluster of three nodes in containers."""
    if known_to("kind", "get", "clusters"):
        run("kind", "export", "kubeconfig", "--name", NAME, "--kubeconfig", str(KUBECONFIG))
    else:
        run("kind", "create", "cluster", "--name", NAME, "--kubeconfig", str(KUBECONFIG),
            "--config", "-", "--wait", "300s", stdin=KIND)  # fmt: skip
    for image in images:
        run("kind", "load", "docker-image", "--name", NAME, image)


def k3d(images: list[str]) -> None:
    """Make a cluster of one server and two agents in containers."""
    if not known_to("k3d", "cluster", "list", "--no-headers"):
        run("k3d", "cluster", "create", NAME, "--agents", "2", "--wait",
            "--kubeconfig-update-default=false")  # fmt: skip
    run("k3d", "kubeconfig", "write", NAME, "--output", str(KUBECONFIG), "--overwrite")
    run("k3d", "image", "import", "--cluster", NAME, *images)


def minikube(images: list[str]) -> None:
    """Make a cluster of three nodes by the driver that minikube chooses."""
    run("minikube", "start", "--profile", NAME, "--nodes", "3")
    for image in images:
        run("minikube", "--profile", NAME, "image", "load", image)


UP: dict[str, Callable[[list[str]], None]] = {"kind": kind, "k3d": k3d, "minikube": minikube}
DOWN = {
    "kind": ("kind", "delete", "cluster", "--name", NAME),
    "k3d": ("k3d", "cluster", "delete", NAME),
    "minikube": ("minikube", "delete", "--profile", NAME),
}


def main() -> int:
    """Start the cluster, or remove it; say in a sentence where neither can be done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--down", action="store_true", help="remove the cluster")
    down = parser.parse_args().down
    tool = next(filter(shutil.which, UP), None)
    if tool is None:
        sys.stderr.write(NOWHERE + "\n")
        return 2
    if down:
        run(*DOWN[tool])
        return 0
    services = sorted(path.parent.name for path in (ROOT / "services").glob("*/app.py"))
    KUBECONFIG.parent.mkdir(parents=True, exist_ok=True)
    UP[tool]([f"biaswatch-{service}:dev" for service in services])
    print(f"The cluster is there: KUBECONFIG={KUBECONFIG.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
