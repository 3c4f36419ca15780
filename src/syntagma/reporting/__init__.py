"""Write reports: what saved results tell, and pictures of models where these are there."""

from syntagma.reporting.case_part import write_cases
from syntagma.reporting.report import write_report

__all__ = ["write_cases", "write_report"]
