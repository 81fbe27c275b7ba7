"""Who may do what: tokens and their file, wrong tokens, quotas, and the audit log."""
