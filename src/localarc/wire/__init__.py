"""What service and client say to each other."""
