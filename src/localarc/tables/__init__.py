"""Tables: frames of pandas, polars and others, and CSV and Parquet files, in and out."""
