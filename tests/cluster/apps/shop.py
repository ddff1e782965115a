"""The smallest Serve application there is: it answers with the word it was given."""

from ray import serve


@serve.deployment(ray_actor_options={"num_cpus": 0.01})
class Word:
    """Says one word. Another word is another configuration, and so another replica."""

    def __init__(self, word: str) -> None:
        self.word = word

    def __call__(self, _request: object) -> str:
        return self.word


def build(arguments: dict[str, str]) -> serve.Application:
    """``word`` is what the application says. Without one it cannot be built, and Ray calls that DEPLOY_FAILED."""
    return Word.bind(arguments["word"])
