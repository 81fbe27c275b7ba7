"""Answer or escalate: when a model may answer by itself."""

from localarc.calibrators.gate.certificate import GateCertificate
from localarc.calibrators.gate.decisions import Decision
from localarc.calibrators.gate.gate import Gate
from localarc.calibrators.gate.summary import GateSummary, GateTerms

__all__ = ["Decision", "Gate", "GateCertificate", "GateSummary", "GateTerms"]
