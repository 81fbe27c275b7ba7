"""The HTTP interface: endpoints, requests, responses and errors."""
