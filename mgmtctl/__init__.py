"""mgmtctl: administer a fleet of monitored agents from the command line."""

__version__ = "0.1.0"
