"""Head pods, offered at a fixed rate, whether those before them are admitted yet or not."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field

from certs.apiserver import ApiError, UnreachableError
from webhook.injection import has_sidecar


@dataclass(slots=True)
class Offered:
    """What became of the pods of one round. Times are in seconds since a pod was due, not since it was sent."""

    took_s: list[float] = field(default_factory=list)
    became: Counter[str] = field(default_factory=Counter)

    def percentile_ms(self, share: float) -> float:
        """The time within which ``share`` of the pods were admitted."""
        ordered = sorted(self.took_s)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


async def offer(api, path, pod, rate, seconds):
    """``rate`` pods a second for ``seconds``, each a server-side dry run: admitted as ever, and not stored."""
    offered, start = Offered(), time.perf_counter()
    calls = set()
    for number in range(int(rate * seconds)):
        due = start + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        calls.add(task := asyncio.create_task(_create(api, path, pod(number), due, offered)))
        task.add_done_callback(calls.discard)
    await asyncio.gather(*calls)
    return offered


async def _create(api, path, pod, due, offered):
    try:
        made = await api.call("POST", path, body=pod, query={"dryRun": "All"})
    except (ApiError, UnreachableError) as error:
        offered.became[f"refused: {error}"[:200]] += 1
        return
    offered.took_s.append(time.perf_counter() - due)
    offered.became["with sidecar" if has_sidecar(made) else "without"] += 1
