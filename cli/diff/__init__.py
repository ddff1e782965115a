"""`holdfast diff`: what a RayService's config would do to what runs, before it is applied."""
