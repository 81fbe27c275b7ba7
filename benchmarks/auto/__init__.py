"""What AutoLARC achieves without settings: every figure of docs/auto.md."""
