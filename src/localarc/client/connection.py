"""The connection: httpx, set up and listened to in the same way by both clients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from localarc.client.requests import Call
from localarc.client.retry import Answer, Lost, Outcome, Retries, Tries
from localarc.client.sse import Event, EventReader

if TYPE_CHECKING:
    import httpx

_SILENCE = 60.0  # seconds without a sign of life after which a stream of events is given up


def options(url: str, token: str | None, timeout: float) -> dict[str, Any]:
    """What httpx is told once; says how it is installed where it is not."""
    try:
        import httpx  # noqa: F401
    except ImportError as error:
        raise ImportError("the client needs httpx: pip install 'localarc[client]'") from error
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise ValueError(
            f"url must start with http:// or https://, got {url!r}. Give what `localarc serve` "
            "printed, e.g. http://127.0.0.1:8090."
        )
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    # no proxy from the environment: a token is for the service alone
    return {"base_url": url, "headers": headers, "timeout": timeout, "trust_env": False}


def request(call: Call[Any]) -> dict[str, Any]:
    """The arguments of httpx's `request` for a call."""
    return {
        "method": call.method,
        "url": call.path,
        "content": call.content,
        "headers": call.headers,
    }


def answer(response: httpx.Response) -> Answer:
    """What came back, as the rest of the client knows it."""
    return Answer(response.status_code, response.headers, response.content)


def lost(error: Exception) -> Lost:
    """A request without an answer; one that never found the service was never seen by it."""
    import httpx

    return Lost(error, seen=not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout))


class Listening:
    """A stream of events that goes on after breaks, as long as the service comes back."""

    ended = Lost(EOFError("the stream of events ended"))

    def __init__(self, retries: Retries, after: str) -> None:
        self._retries = retries
        self._reader = EventReader(after)
        self._tries = Tries(retries)

    @property
    def last(self) -> str:
        """The id of the last event that was heard whole."""
        return self._reader.last

    def take(self, chunk: bytes) -> Iterator[Event]:
        """The events in what arrived; patience starts anew, since the service is up."""
        self._tries = Tries(self._retries)
        return self._reader.take(chunk)

    def pause_after(self, heard: Outcome) -> float | None:
        """Seconds until the next try; what was cut short is forgotten and told again."""
        self._reader = EventReader(self.last)
        return self._tries.pause_after(heard)

    @staticmethod
    def request(call: Call[Any], timeout: float) -> dict[str, Any]:
        """The arguments of httpx's `stream`; an answer may be silent for a while."""
        import httpx

        return request(call) | {"timeout": httpx.Timeout(timeout, read=max(timeout, _SILENCE))}
