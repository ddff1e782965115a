"""`holdfast explain APP`: the story of one application, in sentences with times."""
