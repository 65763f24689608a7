"""The gateway's HTTP face: who may do what, and what is answered."""

from services.gateway.routes.api import routes
from services.gateway.routes.bodies import BodyLimits
from services.gateway.routes.ingestion import ingestion_routes
from services.gateway.routes.monitors import monitor_routes
from services.gateway.routes.own_machine import OwnMachine
from services.gateway.routes.pages import page_routes
from services.gateway.routes.refusals import RESPONSES, answer_refusals
from services.gateway.routes.sessions import Sessions
from services.gateway.routes.tokens import Tokens

__all__ = [
    "RESPONSES",
    "BodyLimits",
    "OwnMachine",
    "Sessions",
    "Tokens",
    "answer_refusals",
    "ingestion_routes",
    "monitor_routes",
    "page_routes",
    "routes",
]
