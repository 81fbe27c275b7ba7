"""AutoLARC: thresholds with nothing to tune, and guards around any thresholds."""

from localarc.calibrators.auto.auto_larc import AutoLARC
from localarc.calibrators.auto.candidates import LabelTicket
from localarc.calibrators.auto.labels import LabelSets
from localarc.calibrators.auto.safeguard import Safeguard

__all__ = ["AutoLARC", "LabelSets", "LabelTicket", "Safeguard"]
