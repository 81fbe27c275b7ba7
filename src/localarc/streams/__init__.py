"""Streams: where rounds come from, such as a CSV file, a Parquet file or a generator.

`Stream` holds the inputs, curves and groups of n rounds; `read_table` reads one from a table,
`StreamFile` from a table that a TOML file describes, and `heteroscedastic` generates one.
"""

from localarc.streams.stream import Round, Stream
from localarc.streams.stream_file import StreamFile
from localarc.streams.synthetic import heteroscedastic
from localarc.streams.tables import read_table
from localarc.tables.file_columns import TableError

__all__ = ["Round", "Stream", "StreamFile", "TableError", "heteroscedastic", "read_table"]
