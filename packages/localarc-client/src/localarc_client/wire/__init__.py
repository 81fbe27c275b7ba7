"""Message types of the HTTP API, shared by the service and the client.

Requests reject unknown fields; responses ignore them, so that a client can read the responses of a
newer service. All times are seconds since 1970 by the service's clock.
"""
