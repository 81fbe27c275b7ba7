"""Write the service's OpenAPI document to a file: `python write_openapi.py FILE`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from localarc_client.wire.routes import ROUTES
from localarc_service.api.openapi import openapi

if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(openapi(ROUTES, "0")), encoding="utf-8")
