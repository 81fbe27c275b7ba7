"""The figures of docs/auto.md, one file each."""
