"""`holdfast apps`: one application at a time, from the command line."""
