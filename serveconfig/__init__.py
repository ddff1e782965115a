"""What a Serve config is, what Ray says runs, and what a PUT must become. Pure: bytes in, bytes or a named error out.

Read this package first: it is the part with the thought in it, and both servers of the house ask it the same question,
*whose application is this?* It does no I/O, knows no clock and no HTTP beyond the status a refusal proposes.

``document``   a Serve config (the body of a PUT): parsed as far as needed, carried byte for byte
``running``    what Ray's GET says runs, and how far that can be believed
``likeness``   are two configs the same to Ray; what was sent, and what Ray made of it
``declared``   what KubeRay declared last, in a form that can be kept on disk
``plans``      what a PUT by KubeRay, by somebody else, or a deletion must become; or why it is refused
``view``       what KubeRay is shown of a GET
``callers``    who is KubeRay; which request is answered by whom
"""
