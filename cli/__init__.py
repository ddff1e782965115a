"""The command `holdfast`, and what only a person at a terminal needs. It may use every other package; none uses it."""
