"""HTTP: one session, whose calls go to the crew one after the other."""

import json
import logging
import re
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .crew import Crew
from .errors import STATUSES, TrainerError, as_trainer_error
from .lease import Lease

PROTOCOL = 1
MAX_JSON_BYTES = 2**28
# What is read of a body that is refused.
MAX_DISCARDED_BYTES = 2**32
SOCKET_SECONDS = 60
SESSION = re.compile(r"/sessions/([0-9a-f]{32})(?:/(step|evaluate|renew|state|moments))?")
log = logging.getLogger("engraft_trainer")


@dataclass(frozen=True)
class Offer:
    """What a client must know before it opens a session."""

    model: str
    processes: int
    dtype: str
    max_run_tokens: int
    max_run_logits: int
    # Of the body that opens a session. The answers with what was trained are no larger.
    max_state_bytes: int


class TrainerServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], crew: Crew, lease: Lease, offer: Offer) -> None:
        super().__init__(address, Handler)
        self.crew = crew
        self.lease = lease
        self.offer = offer
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            threading.Event().wait(min(1.0, self.lease.seconds / 4))
            expired = self.lease.take_expired()
            if expired is not None:
                log.warning("the lease of a session has run out: its training is dropped")
                try:
                    self.crew.ask("close")
                except TrainerError as error:
                    log.error("a training could not be dropped: %s", error)
                finally:
                    self.lease.release(expired)


class Handler(BaseHTTPRequestHandler):
    server: TrainerServer
    protocol_version = "HTTP/1.1"
    timeout = SOCKET_SECONDS

    def do_GET(self) -> None:  # noqa: N802
        self._answer(self._get)

    def do_POST(self) -> None:  # noqa: N802
        self._answer(self._post)

    def do_DELETE(self) -> None:  # noqa: N802
        self._answer(self._delete)

    def _get(self) -> tuple[int, Any]:
        if self.path == "/":
            return 200, self._describe()
        holder, action = self._session()
        if action not in ("state", "moments"):
            raise TrainerError("invalid_request", "there is no such path")
        with self.server.lease.call(holder):
            return 200, self.server.crew.ask("state", holder, action.encode())

    def _post(self) -> tuple[int, Any]:
        if self.path == "/sessions":
            return self._open()
        holder, action = self._session()
        if action == "renew":
            self.server.lease.renew(holder)
            return 200, {}
        if action not in ("step", "evaluate"):
            raise TrainerError("invalid_request", "there is no such path")
        with self.server.lease.call(holder):
            return 200, self.server.crew.ask(action, holder, self._body(MAX_JSON_BYTES))

    def _delete(self) -> tuple[int, Any]:
        holder, _ = self._session()
        try:
            with self.server.lease.call(holder):
                self.server.crew.ask("close", holder)
        finally:
            self.server.lease.release(holder)
        return 200, {}

    def _open(self) -> tuple[int, Any]:
        lease = self.server.lease
        holder = lease.take()
        try:
            self.server.crew.ask("open", holder, self._body(self.server.offer.max_state_bytes))
            lease.renew(holder)
        except BaseException:
            lease.release(holder)
            raise
        return 201, {"id": holder, "lease_seconds": lease.seconds}

    def _describe(self) -> dict[str, Any]:
        return {"trainer": "peft", "protocol": PROTOCOL, "busy": self.server.lease.is_held, **vars(self.server.offer)}

    def _session(self) -> tuple[str, str | None]:
        found = SESSION.fullmatch(self.path)
        if found is None:
            raise TrainerError("invalid_request", "there is no such path")
        return found[1], found[2]

    def _body(self, max_bytes: int) -> bytes:
        length = self.headers.get("content-length", "")
        if not length.isdecimal():
            raise TrainerError("invalid_request", "the request needs a content-length")
        if int(length) > max_bytes:
            raise TrainerError("too_large", f"the body may have {max_bytes} bytes, and has {length}")
        self._unread = 0
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise TrainerError("invalid_request", "the body ends before its content-length")
        return body

    def _discard_body(self) -> None:
        """A client that is still sending would find the connection broken, and never read why it was refused."""
        left = min(self._unread, MAX_DISCARDED_BYTES)
        while left > 0:
            piece = self.rfile.read(min(left, 2**20))
            if not piece:
                return
            left -= len(piece)

    def _answer(self, handle: Any) -> None:
        # Every request has a connection of its own.
        self.close_connection = True
        length = self.headers.get("content-length", "")
        self._unread = int(length) if length.isdecimal() else 0
        try:
            status, content = handle()
        except Exception as error:  # noqa: BLE001
            if not isinstance(error, TrainerError):
                log.exception("a request failed")
            told = as_trainer_error(error)
            status, content = STATUSES[told.code], {"error": {"code": told.code, "message": told.message}}
        is_bytes = isinstance(content, bytes)
        body = content if is_bytes else json.dumps(content).encode()
        try:
            self._discard_body()
            self.send_response(status)
            self.send_header("content-type", "application/octet-stream" if is_bytes else "application/json")
            self.send_header("content-length", str(len(body)))
            self.send_header("connection", "close")
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            log.warning("a client left before its answer")

    def log_message(self, format: str, *args: Any) -> None:
        log.debug(format, *args)
