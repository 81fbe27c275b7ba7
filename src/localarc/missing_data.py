"""The error of data that are not here: the user's to fix, unlike other failures at run time."""


class DataError(RuntimeError):
    """Data are missing, unknown or damaged; the message says what to do."""
