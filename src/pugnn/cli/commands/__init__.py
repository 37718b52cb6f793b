"""The commands: each file adds its own to the program."""
