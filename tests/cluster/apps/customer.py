"""`python3 customer.py URL APP...`: asks every application ten times a second, and prints what it got as JSON lines.

Each line is a second of one application: how many answers were 200, how many were not, or did not come in 2 s.
"""

import json
import sys
import threading
import time
import urllib.error
import urllib.request


def _asks(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:  # noqa: S310 - the story gives an http:// URL
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


def _visits(base: str, app: str) -> None:
    while True:
        until = time.time() + 1
        answers = []
        while time.time() < until:
            answers.append(_asks(f"{base}/{app}"))
            time.sleep(0.1)
        print(json.dumps({"app": app, "served": sum(answers), "refused": answers.count(False)}), flush=True)


for name in sys.argv[2:]:
    threading.Thread(target=_visits, args=(sys.argv[1], name)).start()
