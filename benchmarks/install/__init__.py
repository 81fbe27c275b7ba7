"""How large each install is."""
