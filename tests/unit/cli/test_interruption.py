import os
import signal

import pytest

from cli.demo.interruption import Interrupted, Interruption


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_is_heard_and_the_exit_code_is_a_shells(signum):
    with Interruption(), pytest.raises(Interrupted, match=signum.name) as heard:
        os.kill(os.getpid(), signum)

    assert 128 + signum == heard.value.exit_code


def test_who_hits_the_key_again_does_not_disturb_the_cleaning():
    with Interruption():
        with pytest.raises(Interrupted):
            os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)


def test_once_held_nothing_is_heard():
    with Interruption() as interruption:
        interruption.hold()
        os.kill(os.getpid(), signal.SIGINT)


def test_afterwards_all_is_as_before():
    before = signal.getsignal(signal.SIGINT)
    with Interruption():
        assert signal.getsignal(signal.SIGINT) != before

    assert signal.getsignal(signal.SIGINT) == before


def test_nothing_but_the_end_of_the_command_can_take_it_for_an_error():
    assert not issubclass(Interrupted, Exception)
