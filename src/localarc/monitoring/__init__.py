"""Monitoring: alarms about a stream's risk that stay valid however often they are looked at."""

from localarc.monitoring.health import Health
from localarc.monitoring.monitor import Monitor

__all__ = ["Health", "Monitor"]
