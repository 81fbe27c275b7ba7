"""Metrics of access: wrong tokens, quotas, reloads and the audit log."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from localarc_service.access.audit import AuditLog
from localarc_service.access.reload import TokenReloader
from localarc_service.access.tokens import Tokens


class AccessMetrics(Collector):
    """Names of tokens are labels; addresses are not, since any client can use new ones."""

    def __init__(
        self, tokens: Tokens, reloader: TokenReloader | None, audit: AuditLog | None
    ) -> None:
        self._tokens = tokens
        self._reloader = reloader
        self._audit = audit

    def collect(self) -> Iterator[Metric]:
        """The metrics, as they are now."""
        tokens, guesses = self._tokens, self._tokens.guesses
        yield GaugeMetricFamily("localarc_tokens", "Tokens.", value=len(tokens))
        expiry = GaugeMetricFamily(
            "localarc_token_expiry_timestamp_seconds", "When a token expires.", labels=["token"]
        )
        for name, time in tokens.expiry_times().items():
            expiry.add_metric([name], time)
        yield expiry
        rejected = CounterMetricFamily(
            "localarc_over_quota",
            "Requests above a quota of their token.",
            labels=["token", "quota"],
        )
        for labels, count in tokens.over_quota.copy().items():
            rejected.add_metric(labels, count)
        yield rejected
        yield CounterMetricFamily(
            "localarc_wrong_tokens", "Requests with an unknown token.", value=guesses.wrong
        )
        yield CounterMetricFamily(
            "localarc_blocked_requests",
            "Requests of addresses that had sent too many wrong tokens.",
            value=guesses.blocked,
        )
        yield GaugeMetricFamily(
            "localarc_blocked_addresses", "Addresses that have to wait.", value=guesses.waiting()
        )
        yield CounterMetricFamily(
            "localarc_token_reload_failures",
            "Times that the token file changed and could not be read.",
            value=self._reloader.failures if self._reloader else 0,
        )
        yield CounterMetricFamily(
            "localarc_audit_failures",
            "Lines of the audit log that could not be written.",
            value=self._audit.failures if self._audit else 0,
        )
