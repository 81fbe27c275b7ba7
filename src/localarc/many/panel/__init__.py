"""Panels: thousands of ARC or L-ARC streams, identified by key, in one object."""

from localarc.many.panel.panel import Panel

__all__ = ["Panel"]
