"""The processes of one trainer. The first one is asked over HTTP, and all of them do what it is asked."""

import logging
import queue
import threading
from dataclasses import dataclass, field
from typing import Any

import torch
from accelerate.utils import broadcast_object_list

from .errors import TrainerError, as_trainer_error
from .training import Base, Training, any_failed
from .wire import parse_json, read_opening, read_rate, read_runs

# Processes that wait for each other give up after some minutes, so an idle trainer says this often that it is there.
IDLE_SECONDS = 30.0
log = logging.getLogger("engraft_trainer")


@dataclass
class Order:
    name: str
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

    def ask(self, name: str, body: bytes = b"") -> Any:
        """Called by other threads of the first process. Returns when all processes have done it."""
        order = Order(name, body)
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
                broadcast_object_list([order.name, order.body])
            try:
                order.answer = self._obey(order.name, order.body)
            except Exception as error:  # noqa: BLE001
                if not isinstance(error, TrainerError):
                    log.exception("the order %s failed", order.name)
                order.error = as_trainer_error(error)
            order.done.set()
            if order.name == "stop":
                return

    def _follow(self) -> None:
        while True:
            order: list[Any] = [None, None]
            broadcast_object_list(order)
            name, body = order
            if name == "stop":
                return
            try:
                self._obey(name, body)
            except Exception as error:  # noqa: BLE001
                # The first process has met the same, and tells.
                if not isinstance(error, TrainerError):
                    log.exception("the order %s failed", name)

    def _obey(self, name: str, body: bytes) -> Any:
        match name:
            case "open":
                return self._open(body)
            case "step":
                request = parse_json(body)
                return self._open_training.step(read_runs(request), read_rate(request))
            case "evaluate":
                return self._open_training.evaluate(read_runs(parse_json(body)))
            case "state":
                # Equal on all processes.
                return self._open_training.state(body == b"moments") if self._leads else None
            case "close":
                return self._close()
        return None

    @property
    def _leads(self) -> bool:
        return self._base.accelerator.is_main_process

    @property
    def _open_training(self) -> Training:
        if self._training is None:
            raise TrainerError("session_lost", "no training is open")
        return self._training

    def _open(self, body: bytes) -> None:
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
            return
        self._close()
        raise error or TrainerError("internal", "another process of the trainer could not open the training")

    def _close(self) -> None:
        training, self._training = self._training, None
        if training is not None:
            training.close()
        if self._base.accelerator.device.type == "cuda":
            torch.cuda.empty_cache()
