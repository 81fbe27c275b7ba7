"""The client works in a process without NumPy and the other dependencies of the library."""

import subprocess
import sys

CODE = """
import importlib.abc, json, sys

FORBIDDEN = {"numpy", "numba", "llvmlite", "matplotlib", "scipy", "pandas", "click", "rich",
             "joblib", "platformdirs", "threadpoolctl", "starlette", "uvicorn"}

class Forbid(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in FORBIDDEN:
            raise ImportError(f"{name} must not be imported")

sys.meta_path.insert(0, Forbid())
try:
    import numpy
except ImportError:
    pass
else:
    raise AssertionError("the guard does not work")

import httpx
from localarc_client import AsyncClient, Client, KernelConfig, LarcConfig

def respond(request):
    if request.method == "PUT":
        config = json.loads(request.content)
        return httpx.Response(201, json={"stream": "s", "config": config})
    return httpx.Response(200, json={"id": "a", "seq": 1, "threshold": 0.5})

AsyncClient("http://service.test")
with Client("http://service.test", transport=httpx.MockTransport(respond)) as client:
    config = LarcConfig(0.1, features=1, kernel=KernelConfig(length_scale=0.5))
    assert client.create("s", config).config == config
    print(client.predict("s", [0.2]).threshold)
imported = FORBIDDEN & {name.partition(".")[0] for name in sys.modules}
assert not imported, imported
"""


def test_the_client_needs_only_httpx_and_msgspec() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0.5\n"
