"""The webhook's settings, and the limits that others set."""

from hypothesis import given
from hypothesis import strategies as st

from proxy.environment import Address
from webhook.settings import Settings

settings = st.builds(
    Settings,
    listen=st.builds(Address, st.sampled_from(["127.0.0.1", "::1"]), st.integers(1, 65535)),
    sidecar_image=st.text(min_size=1),
    resync_s=st.floats(0.1, 1000),
    max_body_bytes=st.integers(1, 1 << 40),
)


@given(settings)
def test_what_is_written_to_the_environment_is_read_again(chosen):
    assert chosen == Settings.from_env(chosen.to_env())


def test_the_api_servers_patience_is_not_used_up():
    """``timeoutSeconds`` is 3: a look-up has to fail, and be told, before."""
    assert Settings().lookup_within_s < Settings().admit_within_s < 3


def test_a_review_of_the_largest_object_fits():
    """etcd's limit is 1.5 MiB; what the API server reads at most is 3 MiB, and a review has an object twice."""
    assert Settings().max_body_bytes > 2 * (3 << 20)
