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
    """``wanted`` maps each of its applications to its word, or to None where it was deleted.

    An application whose last call had no answer, or was only queued, is ``unsure``: either outcome is right.
    """

    service: RayService
    name: str
    dice: random.Random
    wanted: dict[str, str | None] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)
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
                    self.unsure.add(name)
                continue
            self.wanted[name] = word
            self.acknowledged += 1
            (self.unsure.discard if said == "written" else self.unsure.add)(name)

    async def _change(self, name: str, word: str | None) -> str:
        head = await self.service.head(patience_s=5)
        return await (head.remove(name) if word is None else head.upsert(application(name, word)))

    def wrong(self, runs: Mapping[str, str]) -> dict[str, str]:
        """What is not as it was acknowledged: what is wanted, and what runs."""
        sure = {name: word for name, word in self.wanted.items() if name not in self.unsure}
        return {name: f"wanted {word}, runs {runs.get(name)}" for name, word in sure.items() if runs.get(name) != word}
