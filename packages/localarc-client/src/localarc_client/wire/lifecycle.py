"""The life of a stream after its creation: change, rename, delete."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from localarc_client.wire.config import StreamConfig
from localarc_client.wire.fields import (
    DefaultLoss,
    Labels,
    Request,
    Response,
    Retention,
    StreamName,
    Timeout,
)


class ChangeRequest(Request, omit_defaults=True):
    """What to change of a stream's config; a field that is left out stays as it is.

    Parameters
    ----------
    labels : dict of str to str, optional
        Replaces all labels.
    timeout, default_loss, retention : float or None, optional
        As in a config; None removes them.

    Examples
    --------
    >>> ChangeRequest(timeout=None).timeout is None
    True
    """

    labels: Labels | UnsetType = UNSET
    timeout: Timeout | UnsetType | None = UNSET
    default_loss: DefaultLoss | UnsetType | None = UNSET
    retention: Retention | UnsetType | None = UNSET

    def __post_init__(self) -> None:
        """Reject a body that changes nothing, which may be a mistake."""
        if all(getattr(self, name) is UNSET for name in self.__struct_fields__):
            names = ", ".join(self.__struct_fields__)
            raise ValueError(f"nothing to change: send one or more of {names}")


class ChangeResponse(Response):
    """Confirmation that a config was changed.

    Attributes
    ----------
    stream : str
        Name of the stream.
    seq : int
        Position of the change in the stream.
    config : AutoConfig, LarcConfig, ArcConfig, MondrianConfig or GateConfig
        The configuration after it.

    Examples
    --------
    >>> from localarc_client import AutoConfig
    >>> ChangeResponse("demand", 4, AutoConfig(alpha=0.1, timeout=60.0)).config.timeout
    60.0
    """

    stream: str
    seq: int
    config: StreamConfig


class RenameRequest(Request):
    """The new name of a stream.

    Parameters
    ----------
    name : str
        A name that no stream has: letters, digits, '.', '_' and '-', at most 64 characters.

    Examples
    --------
    >>> RenameRequest("demand-2").name
    'demand-2'
    """

    name: StreamName


class RenameResponse(Response):
    """Confirmation that a stream was renamed.

    Attributes
    ----------
    stream : str
        Its name from now on.
    seq : int
        Position of the change in the stream.

    Examples
    --------
    >>> RenameResponse("demand-2", seq=5).stream
    'demand-2'
    """

    stream: str
    seq: int


class DeleteResponse(Response):
    """Confirmation that a stream was deleted.

    Attributes
    ----------
    stream : str
        The name that it had, which is free again.
    seq : int or None
        Position of its latest change; None if nothing of it could be read.

    Examples
    --------
    >>> DeleteResponse("demand", seq=7).seq
    7
    """

    stream: str
    seq: int | None
