"""Panels: thousands of ARC or L-ARC streams, told apart by key, as one object."""

from localarc.panel.panel import Panel

__all__ = ["Panel"]
