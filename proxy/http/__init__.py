"""HTTP/1.1 as the relay needs it: heads are parsed, bodies are only measured, and what passes is the bytes that came.

Pure, and deciding everything that two parsers could see differently:

``head``      a request's or an answer's head, strict to read, kept as received
``path``      the path of a request target as Ray's router matches it
``framing``   where a body ends, and by which rule
``hop``       the fields that belong to one connection

Carrying the bytes:

``wire``      one TCP connection
``upstream``  the connections to Ray
``passing``   one request on its way to Ray, and the answer on its way back
``tunnel``    what remains of HTTP after an upgrade
``local``     the requests that are answered here
"""
