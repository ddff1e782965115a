"""The one error of this folder: the machine, or what is on it, does not let the node run. Its text says what to do."""


class CannotRunHereError(Exception):
    """What is missing and how to get it, in sentences."""
