"""The service: calibration over HTTP, with every event on disk before it is answered."""
