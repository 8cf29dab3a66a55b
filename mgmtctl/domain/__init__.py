"""What is true about rules, policies, agents, groups and files: pure values and functions, no I/O."""
