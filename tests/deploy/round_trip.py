"""Run inside the image: start what it starts, use it, stop it, resume, and print what was seen.

`python round_trip.py TOKEN HEALTHCHECK COMMAND`, the last two as JSON. Standard library only: the
image has no client.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

URL = "http://127.0.0.1:8090/v1/streams"


def call(method: str, path: str, body: Any = None, token: str | None = None) -> tuple[int, Any]:
    headers = {"Content-Type": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, None


def started(command: list[str], healthcheck: list[str]) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(command)
    while subprocess.run(healthcheck, stderr=subprocess.DEVNULL).returncode:
        if process.poll() is not None:
            sys.exit(f"the service ended with {process.returncode}")
        time.sleep(0.5)
    return process


def stopped(process: subprocess.Popen[bytes]) -> int:
    process.send_signal(signal.SIGTERM)
    return process.wait(60)


def rounds(token: str) -> None:
    for stream in "auto", "larc":
        for number in range(20):
            body = {"id": str(number), "x": [number / 20, 0.5]}
            status, prediction = call("POST", f"/{stream}/predict", body, token)
            assert status == 200, status
            path = f"/{stream}/predictions/{prediction['id']}/feedback"
            assert call("PUT", path, {"loss": 0.0, "score": 0.1}, token)[0] == 200


def main(token: str, healthcheck: list[str], command: list[str]) -> None:
    service = started(command, healthcheck)
    seen: dict[str, Any] = {"uid": os.getuid(), "without a token": call("GET", "")[0]}
    seen["created"] = [
        call("PUT", "/auto", {"alpha": 0.1, "features": 2}, token)[0],
        call("PUT", "/larc", {"alpha": 0.1, "features": 2, "kernel": {}}, token)[0],
    ]
    rounds(token)
    seen["stopped"] = stopped(service)
    service = started(command, healthcheck)
    seen["rounds"] = [
        call("GET", f"/{name}", None, token)[1]["rounds"] for name in ("auto", "larc")
    ]
    seen["stopped again"] = stopped(service)
    seen["in /tmp"] = sorted(map(str, Path("/tmp").rglob("*")))
    print(json.dumps(seen))


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3]))
