"""Guarantees: what is promised about the mean loss, with every constant and assumption."""

from localarc.guarantees.bounds import Bound, Evidence
from localarc.guarantees.certificate import Certificate
from localarc.guarantees.verdict import Part, Verdict

__all__ = ["Bound", "Certificate", "Evidence", "Part", "Verdict"]
