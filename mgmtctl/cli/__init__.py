"""The command line: one module per noun; each parses, calls one operation and shows the result."""
