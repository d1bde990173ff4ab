"""What travels: JSON about runs, and safetensors with what is trained."""

import json
import math
from dataclasses import dataclass
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from .errors import TrainerError

FIRST_MOMENT = "first_moment."
SECOND_MOMENT = "second_moment."
MAX_HEADER_BYTES = 100_000_000
MAX_NUMBERS = 2**31


@dataclass(frozen=True)
class Optimizer:
    betas: tuple[float, float]
    weight_decay: float
    # Infinity for no bound.
    clip_norm: float
    steps: int


@dataclass(frozen=True)
class Opening:
    """How a session begins."""

    model: str
    # The content of `adapter_config.json`.
    adapter_config: dict[str, Any]
    optimizer: Optimizer
    is_fresh: bool
    # Tokens of texts whose main input directions are protected.
    protected: list[list[int]]


@dataclass(frozen=True)
class Run:
    """Rows of a batch. The engine's `buildTrainingGraph` says what the numbers mean."""

    rows: int
    length: int
    packed: bool
    ids: list[int]
    segments: list[int]
    trunks: list[int]
    places: list[int]
    positions: list[int]
    target_ids: list[int]
    target_probabilities: list[float]
    weights: list[float]


def parse_json(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise TrainerError("invalid_request", "the body is not JSON") from None
    if not isinstance(value, dict):
        raise TrainerError("invalid_request", "the body is not a JSON object")
    return value


def read_metadata(body: bytes) -> dict[str, Any]:
    """The metadata of safetensors."""
    length = int.from_bytes(body[:8], "little")
    if len(body) < 8 or length > min(MAX_HEADER_BYTES, len(body) - 8):
        raise TrainerError("adapter_invalid", "the body is no safetensors")
    metadata = parse_json(body[8 : 8 + length]).get("__metadata__")
    if not isinstance(metadata, dict):
        raise TrainerError("adapter_invalid", "the safetensors have no metadata")
    return metadata


def read_opening(body: bytes) -> tuple[Opening, dict[str, torch.Tensor]]:
    """The options of a session lie in the metadata of its state, as the JSON text `session`."""
    text = read_metadata(body).get("session")
    if not isinstance(text, str):
        raise TrainerError("invalid_request", "the metadata have no session")
    session = parse_json(text.encode())
    try:
        tensors = load(body)
    except (SafetensorError, ValueError):
        raise TrainerError("adapter_invalid", "the body is no safetensors") from None
    if any(tensor.dtype != torch.float32 for tensor in tensors.values()):
        raise TrainerError("adapter_invalid", "the matrices must be in F32")
    opening = Opening(
        model=_of(session, "model", str),
        adapter_config=_of(session, "adapter_config", dict),
        optimizer=_optimizer(_of(session, "optimizer", dict)),
        is_fresh=_of(session, "is_fresh", bool),
        protected=[_integers({"tokens": each}, "tokens") for each in _of(session, "protected", list)],
    )
    return opening, tensors


def write_state(tensors: dict[str, torch.Tensor], steps: int) -> bytes:
    return save(tensors, metadata={"format": "pt", "steps": str(steps)})


def read_runs(body: dict[str, Any]) -> list[Run]:
    runs = _of(body, "runs", list)
    if not runs:
        raise TrainerError("invalid_request", "runs must not be empty")
    return [_run(run) for run in runs]


def read_rate(body: dict[str, Any]) -> float:
    rate = _number(body, "learning_rate")
    if rate < 0:
        raise TrainerError("invalid_request", "learning_rate must be at least 0")
    return rate


def _run(value: Any) -> Run:
    if not isinstance(value, dict):
        raise TrainerError("invalid_request", "a run must be an object")
    run = Run(
        rows=_of(value, "rows", int),
        length=_of(value, "length", int),
        packed=_of(value, "packed", bool),
        **{name: _integers(value, name) for name in ("ids", "segments", "trunks", "places", "positions", "target_ids")},
        target_probabilities=_numbers(value, "target_probabilities"),
        weights=_numbers(value, "weights"),
    )
    size, count = run.rows * run.length, len(run.positions)
    fits = (
        run.rows > 0
        and run.length > 0
        and all(len(each) == size for each in (run.ids, run.segments, run.trunks, run.places))
        and count > 0
        and len(run.weights) == count
        and len(run.target_ids) == len(run.target_probabilities)
        and len(run.target_ids) % count == 0
        and max(run.positions) < size
    )
    if not fits:
        raise TrainerError("invalid_request", "the lists of a run have lengths that do not fit")
    return run


def _optimizer(value: dict[str, Any]) -> Optimizer:
    betas = _numbers(value, "betas")
    if len(betas) != 2 or not all(0 <= beta < 1 for beta in betas):
        raise TrainerError("invalid_request", "betas must be two numbers of at least 0 and below 1")
    clip_norm = math.inf if value.get("clip_norm") is None else _number(value, "clip_norm")
    return Optimizer((betas[0], betas[1]), _number(value, "weight_decay"), clip_norm, _of(value, "steps", int))


def _of(value: dict[str, Any], name: str, kind: type) -> Any:
    found = value.get(name)
    if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
        raise TrainerError("invalid_request", f"{name} is missing or of another kind")
    return found


def _number(value: dict[str, Any], name: str) -> float:
    return _numbers({name: [value.get(name)]}, name)[0]


def _numbers(value: dict[str, Any], name: str) -> list[float]:
    found = _of(value, name, list)
    for each in found:
        if type(each) not in (int, float) or not math.isfinite(each):
            raise TrainerError("invalid_request", f"{name} must be finite numbers")
    return found


def _integers(value: dict[str, Any], name: str) -> list[int]:
    found = _of(value, name, list)
    for each in found:
        if type(each) is not int or not 0 <= each < MAX_NUMBERS:
            raise TrainerError("invalid_request", f"{name} must be whole numbers of at least 0")
    return found
