"""Answer or escalate: when a model may answer by itself."""

from localarc.calibrators.gate.certificate import GateCertificate
from localarc.calibrators.gate.closed import Closed
from localarc.calibrators.gate.decisions import Decision
from localarc.calibrators.gate.draws import Draws
from localarc.calibrators.gate.gate import Gate
from localarc.calibrators.gate.summary import GateSummary
from localarc.calibrators.gate.terms import GateTerms

__all__ = ["Closed", "Decision", "Draws", "Gate", "GateCertificate", "GateSummary", "GateTerms"]
