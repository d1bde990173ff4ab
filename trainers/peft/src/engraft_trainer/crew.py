"""The processes of one trainer. The first one is asked over HTTP, and all of them do what it is asked."""

import logging
import os
import queue
import threading
from dataclasses import dataclass, field
from typing import Any

import torch
from accelerate.utils import broadcast_object_list

from .errors import Broken, TrainerError, as_trainer_error, is_broken
from .training import Base, Training, any_failed
from .wire import parse_json, read_opening, read_rate, read_runs

# Processes that wait for each other give up after some minutes, so an idle trainer says this often that it is there.
IDLE_SECONDS = 30.0
log = logging.getLogger("engraft_trainer")


@dataclass
class Order:
    name: str
    # Of the session. None where it has run out, and nobody else can have opened one.
    holder: str | None = None
    body: bytes = b""
    answer: Any = None
    error: TrainerError | None = None
    done: threading.Event = field(default_factory=threading.Event)


class Crew:
    """PyTorch is called by one thread of each process, which `work` occupies until the trainer stops."""

    def __init__(self, base: Base, model_hash: str) -> None:
        self._base = base
        self._model_hash = model_hash
        self._orders: queue.Queue[Order] = queue.Queue()
        self._training: Training | None = None
        self._holder: str | None = None

    def ask(self, name: str, holder: str | None = None, body: bytes = b"") -> Any:
        """Called by other threads of the first process. Returns when all processes have done it."""
        order = Order(name, holder, body)
        self._orders.put(order)
        order.done.wait()
        if order.error is not None:
            raise order.error
        return order.answer

    def work(self) -> None:
        if self._base.accelerator.is_main_process:
            self._lead()
        else:
            self._follow()

    def _lead(self) -> None:
        while True:
            try:
                order = self._orders.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                order = Order("idle")
            if self._base.accelerator.num_processes > 1:
                broadcast_object_list([order.name, order.holder, order.body])
            try:
                order.answer = self._obey(order.name, order.holder, order.body)
            except Exception as error:  # noqa: BLE001
                report(order.name, error)
                order.error = as_trainer_error(error)
            order.done.set()
            if order.name == "stop":
                return

    def _follow(self) -> None:
        while True:
            order: list[Any] = [None, None, None]
            broadcast_object_list(order)
            name, holder, body = order
            if name == "stop":
                return
            try:
                self._obey(name, holder, body)
            except Exception as error:  # noqa: BLE001
                # The first process has heard of it, and tells.
                report(name, error)

    def _obey(self, name: str, holder: str | None, body: bytes) -> Any:
        match name:
            case "open":
                return self._open(holder, body)
            case "step":
                return self._step(self._training_of(holder), parse_json(body))
            case "evaluate":
                return self._training_of(holder).evaluate(read_runs(parse_json(body)))
            case "state":
                training = self._training_of(holder)
                # Equal on all processes.
                return training.state(body == b"moments") if self._leads else None
            case "close":
                if holder in (None, self._holder):
                    self._close()
        return None

    def _step(self, training: Training, request: dict[str, Any]) -> dict[str, float]:
        try:
            return training.step(read_runs(request), read_rate(request))
        except TrainerError as error:
            # The same on all processes.
            if error.code == "session_lost":
                self._close()
            raise

    @property
    def _leads(self) -> bool:
        return self._base.accelerator.is_main_process

    def _training_of(self, holder: str | None) -> Training:
        # A call may arrive after its session has gone, and another one has come.
        if self._training is None or holder != self._holder:
            raise TrainerError("session_lost", "this training is not open")
        return self._training

    def _open(self, holder: str | None, body: bytes) -> None:
        opening, tensors = read_opening(body)
        if opening.model != self._model_hash:
            raise TrainerError("model_differs", f"this trainer has {self._model_hash}, not {opening.model}")
        self._close()
        error: Exception | None = None
        try:
            self._training = Training(self._base, opening, tensors)
        except Exception as caught:  # noqa: BLE001
            error = caught
        # One of them may have too little memory. A training is open on all of them or on none.
        if not any_failed(self._base.accelerator, error is not None):
            self._holder = holder
            return
        self._close()
        raise error or TrainerError("internal", "another process of the trainer could not open the training")

    def _close(self) -> None:
        training, self._training, self._holder = self._training, None, None
        try:
            if training is not None:
                training.close()
            if self._base.accelerator.device.type == "cuda":
                torch.cuda.empty_cache()
        except Exception as error:
            raise Broken("the base model may still have an adapter") from error


def report(name: str, error: Exception) -> None:
    """Logs what nobody foresaw, and ends the process if it can train no more: others must see that it is gone."""
    if not isinstance(error, TrainerError) or error.__cause__ is not None:
        log.error("the order %s failed", name, exc_info=error)
    if is_broken(error):
        log.critical("the trainer ends, since it can train no more")
        logging.shutdown()
        # An orderly end would wait for the GPU or for other processes.
        os._exit(1)
