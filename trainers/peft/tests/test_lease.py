import pytest

from engraft_trainer.errors import TrainerError
from engraft_trainer.lease import Lease


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_one_holds_it_until_it_is_silent_for_too_long():
    clock = Clock()
    lease = Lease(30, clock)
    holder = lease.take()
    with pytest.raises(TrainerError, match="already"):
        lease.take()
    clock.seconds = 1_000
    assert lease.take_expired() is None, "while it opens"
    lease.renew(holder)
    clock.seconds += 29
    assert lease.take_expired() is None
    lease.renew(holder)
    clock.seconds += 29
    assert lease.take_expired() is None
    with lease.call(holder):
        clock.seconds += 1_000
        assert lease.take_expired() is None, "in a call"
    clock.seconds += 31
    expired = lease.take_expired()
    with pytest.raises(TrainerError):
        lease.renew(holder)
    assert lease.is_held, "until its training is dropped"
    lease.release(expired)
    assert not lease.is_held
    lease.release(holder)
    assert lease.take() != holder


def test_a_call_that_ends_after_its_session_leaves_the_next_one_alone():
    clock = Clock()
    lease = Lease(30, clock)
    first = lease.take()
    lease.renew(first)
    with lease.call(first):
        lease.release(first)
        second = lease.take()
    clock.seconds = 1_000
    assert lease.take_expired() is None, "while the second opens"
    lease.renew(second)
    with lease.call(second):
        clock.seconds += 1_000
        assert lease.take_expired() is None
    clock.seconds += 31
    assert lease.take_expired() is not None
