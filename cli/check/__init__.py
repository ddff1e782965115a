"""`holdfast check`: is everything as it should be, and what to do where it is not. One line a check.

``findings``   what a check says
``seen``       everything that is read of the cluster, at once; what may not be read is told, and no check guesses
``rules``      the checks: each a pure function of what was seen
``heads``      the checks of one RayService: is its head protected
``report``     lines for a person, JSON for a program
"""
