"""Teams that deploy and delete all the time, and know what they were told: what of it has to be so in the end."""

import asyncio
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

import aiohttp

from tests.cluster.api import ApiError
from tests.cluster.manifests import application
from tests.cluster.rayservice import RayService


@dataclass(slots=True)
class Team:
    """``right`` maps each of its applications to the words that it may have in the end; None stands for deleted.

    After a call that was answered with "written" that is one word. One that had no answer, or was only queued, adds
    what it asked for: either outcome is right.
    """

    service: RayService
    name: str
    dice: random.Random
    right: dict[str, set[str | None]] = field(default_factory=dict)
    acknowledged: int = 0

    async def work(self, until: asyncio.Event) -> None:
        """One change after the other, about one a second, until the event."""
        while not until.is_set():
            await asyncio.sleep(self.dice.uniform(0.5, 1.5))
            name = f"{self.name}-{self.dice.randrange(3)}"
            word = f"word-{self.dice.randrange(1000)}" if self.dice.random() < 0.75 else None
            try:
                said = await self._change(name, word)
            except (ApiError, aiohttp.ClientError, TimeoutError) as error:
                # A refusal of our own (4xx) has changed nothing; of all else nobody knows.
                if not (isinstance(error, ApiError) and 400 <= error.status < 500):
                    self.right.setdefault(name, {None}).add(word)
                continue
            self.acknowledged += 1
            if said == "written":
                self.right[name] = {word}
            else:
                self.right.setdefault(name, {None}).add(word)

    async def _change(self, name: str, word: str | None) -> str:
        head = await self.service.head(patience_s=5)
        return await (head.remove(name) if word is None else head.upsert(application(name, word)))

    def wrong(self, runs: Mapping[str, str]) -> dict[str, str]:
        """What is not as it was acknowledged: what would be right, and what runs."""
        return {
            name: f"right: {sorted(map(str, right))}, runs: {runs.get(name)}"
            for name, right in self.right.items()
            if runs.get(name) not in right
        }

    @property
    def sure(self) -> int:
        """Of how many applications only one outcome is right."""
        return sum(len(right) == 1 for right in self.right.values())
