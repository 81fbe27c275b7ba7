"""Monitoring: alarms about a stream's risk that stay valid however often they are looked at."""

from localarc.monitoring.monitor import Monitor
from localarc.monitoring.status import Status

__all__ = ["Monitor", "Status"]
