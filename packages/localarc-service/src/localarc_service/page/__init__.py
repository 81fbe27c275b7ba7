"""The page: the streams of a service, watched from a browser."""
