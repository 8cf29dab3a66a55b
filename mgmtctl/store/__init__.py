"""The embedded SQLite store: every SQL statement of mgmtctl is in this package, one module per noun."""
