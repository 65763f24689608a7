"""What a user of the chart may choose: the values and their defaults."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from tools.deployment.services import OPERATOR, SIMULATOR, bus_services
from tools.deployment.workloads import resources_of

GPU_EXTRACTORS = (
    "words,length,readability,hedging,refusal,profanity,vader,rating,choice,sentiment,"
    "regard,stereotype,personality,toxicity,embedding_distance"
)


class Choices(BaseModel):
    """A group of values; a key that is not here is refused by `helm install`."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


Digest = Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]


class Images(Choices):
    """Where the images of the services are."""

    registry: str = Field("", description="For example registry.example.com/team/, with the slash.")
    tag: str = "dev"
    digests: dict[str, Digest] = Field(
        {}, description="By service, in place of the tag: {planner: 'sha256:...'}."
    )
    pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    pull_secrets: list[dict[str, str]] = Field([], description="For example [{name: registry}].")


class ServiceChoices(Choices):
    """One service."""

    enabled: bool = True
    replicas: int | None = Field(None, ge=0, description="Only where nothing scales by itself.")
    resources: dict[str, Any] = {}
    env: dict[str, str] = Field({}, description="More settings of this service alone.")
    node_selector: dict[str, str] = {}
    tolerations: list[dict[str, Any]] = []
    priority_class_name: str = ""


class Nats(Choices):
    """The bus; without it, `settings.BIASWATCH_NATS_URL` names yours."""

    enabled: bool = True
    image: str = "nats:2-alpine"
    replicas: Literal[1, 3, 5] = 3
    storage: str = "28Gi"
    storage_class_name: str = ""
    resources: dict[str, Any] = {}


class Postgres(Choices):
    """A database for trying and for small teams."""

    enabled: bool = True
    image: str = "postgres:17-alpine"
    storage: str = "10Gi"
    storage_class_name: str = ""
    resources: dict[str, Any] = {}


class Database(Choices):
    """Your database, where `postgres.enabled` is false: its address is in the Secrets."""

    cidrs: list[str] = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"]
    port: int = 5432


class Autoscaling(Choices):
    """Who decides how many replicas run."""

    kind: Literal["none", "hpa", "keda"] = "hpa"
    min_replicas: int = Field(1, ge=0)
    max_replicas: int = Field(8, ge=1)
    cpu_percent: int = Field(70, ge=1, le=100)
    waiting_per_replica: str = Field("500", description="Records that wait, with KEDA.")
    bundles_per_replica: str = Field(
        "50", description="The same of responses and features, of which a message holds many."
    )
    prometheus_url: str = Field(
        "http://prometheus-operated.monitoring.svc.cluster.local:9090",
        description="Whom KEDA asks what waits for the generator.",
    )


class Monitoring(Choices):
    """What the Prometheus operator and Grafana read."""

    pod_monitor: bool = False
    rules: bool = False
    dashboards: bool = False
    annotations: bool = Field(False, description="prometheus.io annotations, without an operator.")


class Ingress(Choices):
    """The way to the gateway from outside."""

    enabled: bool = False
    class_name: str = ""
    host: str = "biaswatch.example.com"
    tls_secret: str = ""
    annotations: dict[str, str] = {}


class HttpRoute(Choices):
    """The same by the Gateway API."""

    enabled: bool = False
    parent_refs: list[dict[str, str]] = []
    hostnames: list[str] = []


class NetworkPolicies(Choices):
    """Nobody reaches anybody, except as said."""

    enabled: bool = True
    gateway_from: dict[str, str] = Field(
        {"biaswatch.io/gateway": "client"},
        description="Labels of the namespaces that may reach the gateway.",
    )


class ExternalSecrets(Choices):
    """Secrets that the External Secrets operator makes, one of its own for each service."""

    enabled: bool = False
    store: dict[str, str] = {"name": "secrets", "kind": "ClusterSecretStore"}
    path: str = Field("biaswatch", description="Keys are <path>/<name of the Secret>.")


class Gpu(Choices):
    """The extractor with models on a GPU, in place of the other; its image ends in -cuda."""

    enabled: bool = False
    extractors: str = GPU_EXTRACTORS
    claim: str = Field("biaswatch-models", description="Where the models lie; none is fetched.")
    batch: int = Field(256, ge=1)


class Simulator(Choices):
    """A model whose bias is known, for trying."""

    enabled: bool = False
    resources: dict[str, Any] = {}


class Operator(Choices):
    """Monitors, suites and runs as resources, in the namespace of the release."""

    enabled: bool = False
    resources: dict[str, Any] = {}
    api_server_cidrs: list[str] = Field(
        ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"],
        description="Addresses of the API server; narrow them to its own.",
    )


ExtractorName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]{0,52}[a-z0-9])?$")]
"""The name of a drop-in, which with `drop-in-` before it is also a label of Kubernetes."""


class DropIn(Choices):
    """A drop-in extractor: a file that our image serves, or an image of yours with its command."""

    extractor: str = Field("", description="The text of the Python file.")
    image: str = ""
    command: list[str] = []
    secret: str = Field("biaswatch-dropin", description="Holds nats.seed: its key on the bus.")
    resources: dict[str, Any] = {
        "requests": {"cpu": "50m", "memory": "128Mi"},
        "limits": {"cpu": "1", "memory": "256Mi"},
    }


class Priorities(Choices):
    """Two priority classes of the cluster, for bus and database, and for the services."""

    enabled: bool = False


class Backup(Choices):
    """A dump of the store every night; the Secret biaswatch-backup has its URL and rclone.conf."""

    enabled: bool = False
    schedule: str = "17 2 * * *"
    remote: str = Field("backups:biaswatch", description="The remote of rclone.conf, and a path.")
    kept: str = Field("30d", description="Older dumps are removed there.")
    dump_image: str = "postgres:17-alpine"
    copy_image: str = "rclone/rclone:1"


class AnswerFiles(Choices):
    """Answers of live systems in files; images end in -parquet, and take 128Mi more of memory."""

    uri: str = Field(
        "",
        pattern="^((s3|gs)://.+)?$",
        description="A bucket and a path: s3://our-bucket/live. Without it, answers are rows.",
    )
    write: bool = Field(
        True, description="false: what comes becomes rows again, and files are only read."
    )
    secret: str = Field(
        "biaswatch-answer-files",
        min_length=1,
        description="Its file `credentials` holds the bucket's keys, as AWS's programs read them;"
        " not needed where recorder, planner, diagnoser and gateway have a role.",
    )


class ChartValues(Choices):
    """All of it."""

    images: Images = Images()
    settings: dict[str, str] = Field(
        {
            "BIASWATCH_NATS_URL": "tls://nats:4222",
            "BIASWATCH_NATS_CA_FILE": "/run/secrets/nats/ca.crt",
            "BIASWATCH_LOG_LEVEL": "INFO",
        },
        description="What every service is told.",
    )
    services: dict[str, ServiceChoices] = Field(
        {name: ServiceChoices(resources=resources_of(name)) for name in bus_services()}
    )
    nats: Nats = Nats()
    postgres: Postgres = Postgres()
    database: Database = Database()
    simulator: Simulator = Simulator(resources=resources_of(SIMULATOR))
    operator: Operator = Operator(resources=resources_of(OPERATOR))
    backup: Backup = Backup()
    priorities: Priorities = Priorities()
    drop_ins: dict[ExtractorName, DropIn] = Field(
        {},
        description="By extractor's name: {extractor, or image and command; secret; resources}.",
        json_schema_extra={"additionalProperties": False},
    )
    autoscaling: Autoscaling = Autoscaling()
    monitoring: Monitoring = Monitoring()
    network_policies: NetworkPolicies = NetworkPolicies()
    ingress: Ingress = Ingress()
    http_route: HttpRoute = HttpRoute()
    external_secrets: ExternalSecrets = ExternalSecrets()
    gpu: Gpu = Gpu()
    answer_files: AnswerFiles = AnswerFiles()
    channels: dict[str, Any] = Field(
        {}, description="Where alarms are sent; the Secret biaswatch-channels holds their secrets."
    )
