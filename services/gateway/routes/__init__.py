"""The gateway's HTTP face: who may do what, and what is answered."""

from services.gateway.routes.api import as_sentence, routes
from services.gateway.routes.ingestion import ingestion_routes
from services.gateway.routes.monitors import monitor_routes
from services.gateway.routes.tokens import Tokens

__all__ = ["Tokens", "as_sentence", "ingestion_routes", "monitor_routes", "routes"]
