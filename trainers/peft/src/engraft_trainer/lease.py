"""Who has the trainer, and until when. A client that is gone loses it."""

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .errors import TrainerError

LOST = "there is no such session: it was closed, or its lease has run out"


class Lease:
    """One session at a time. Every call renews its lease, and none runs out during a call."""

    def __init__(self, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._now = now
        self._lock = threading.Lock()
        self._holder: str | None = None
        self._expires_at = 0.0
        self._calls = 0

    @property
    def is_held(self) -> bool:
        return self._holder is not None

    def take(self) -> str:
        """A new holder, whose lease begins after `renew`: opening may take long."""
        with self._lock:
            if self._holder is not None:
                raise TrainerError("busy", "the trainer has a session already")
            self._holder = secrets.token_hex(16)
            self._expires_at = float("inf")
            self._calls = 0
            return self._holder

    def renew(self, holder: str) -> None:
        with self._lock:
            self._require(holder)
            self._expires_at = self._now() + self.seconds

    def release(self, holder: str) -> None:
        with self._lock:
            if self._holder == holder:
                self._holder = None

    @contextmanager
    def call(self, holder: str) -> Iterator[None]:
        with self._lock:
            self._require(holder)
            self._calls += 1
        try:
            yield
        finally:
            with self._lock:
                # The call may end after its session.
                if self._holder == holder:
                    self._calls -= 1
                    self._expires_at = self._now() + self.seconds

    def take_expired(self) -> str | None:
        """If a lease has run out: its holder can call no more, and what this returns is to be released."""
        with self._lock:
            if self._holder is None or self._calls > 0 or self._now() < self._expires_at:
                return None
            # Under another name nobody takes the trainer before it is free.
            self._holder = secrets.token_hex(16)
            self._expires_at = float("inf")
            return self._holder

    def _require(self, holder: str) -> None:
        if self._holder is None or not secrets.compare_digest(self._holder, holder):
            raise TrainerError("session_lost", LOST)
