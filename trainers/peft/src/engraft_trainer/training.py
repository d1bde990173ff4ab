"""One training: an adapter in the base model, an optimizer, and what a step does."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from accelerate import Accelerator
from transformers import PreTrainedModel

from .adapter import Adapter
from .errors import Broken, TrainerError, as_trainer_error
from .loss import loss_of
from .protected import UpdateProjection
from .wire import FIRST_MOMENT, SECOND_MOMENT, Opening, Run, write_state

NOT_FINITE = "the loss or its gradient is not finite, so the weights were not changed"
HALF_DONE = "the update failed, and may be half done, so the training is dropped"


@dataclass(frozen=True)
class Base:
    """The model of a process, and its place among the processes."""

    model: PreTrainedModel
    dtype: torch.dtype
    accelerator: Accelerator


def any_failed(accelerator: Accelerator, failed: bool) -> bool:
    """Whether a process failed. All of them must ask."""
    if accelerator.num_processes == 1:
        return failed
    (failures,) = add_up(accelerator, [float(failed)])
    return failures > 0


def add_up(accelerator: Accelerator, numbers: list[float]) -> list[float]:
    """The sums over several processes."""
    with together():
        tensor = torch.tensor(numbers, device=accelerator.device, dtype=torch.float32)
        torch.distributed.all_reduce(tensor)
        return tensor.tolist()


@contextmanager
def together() -> Iterator[None]:
    """What all processes do at once. One that cannot leaves the others waiting, until it ends."""
    try:
        yield
    except Exception as error:
        raise Broken("the processes cannot do this together") from error


class Training:
    """The same on every process. Each computes some runs of a batch, and all of them make the same update."""

    def __init__(self, base: Base, opening: Opening, tensors: dict[str, torch.Tensor]) -> None:
        self._base = base
        moments = {name for name in tensors if name.startswith((FIRST_MOMENT, SECOND_MOMENT))}
        given = {name: tensor for name, tensor in tensors.items() if name not in moments}
        self._adapter = Adapter(base.model, opening.adapter_config, given)
        try:
            options = opening.optimizer
            self._clip_norm = options.clip_norm
            self.steps = options.steps
            self._optimizer = torch.optim.AdamW(
                self._adapter.matrices.values(), betas=options.betas, eps=1e-8, weight_decay=options.weight_decay
            )
            self._reserve()
            if moments:
                self._restore({name: tensors[name] for name in moments})
            self._projection = UpdateProjection(self._adapter, opening.protected) if opening.protected else None
            if opening.is_fresh and self._projection is not None:
                self._projection.clear_directions()
        except Exception:
            self._adapter.remove()
            raise

    def step(self, runs: list[Run], learning_rate: float) -> dict[str, float]:
        """Forward, backward and one AdamW update."""
        loss = self._summed(self._local_loss(runs, backward=True))
        self._sum_gradients()
        norm, is_finite, failure = 0.0, False, None
        try:
            norm = torch.linalg.vector_norm(torch.stack([each.grad.norm() for each in self._parameters])).item()
            is_finite = math.isfinite(loss) and math.isfinite(norm)
            if is_finite:
                self._update(norm, learning_rate)
        except Exception as error:  # noqa: BLE001
            failure = error
        # Where one of them has not made it, their adapters differ.
        if any_failed(self._base.accelerator, failure is not None):
            raise TrainerError("session_lost", HALF_DONE) from failure
        if not is_finite:
            raise TrainerError("not_finite", NOT_FINITE)
        self.steps += 1
        return {"loss": loss, "gradient_norm": norm, "steps": self.steps}

    @torch.no_grad()
    def evaluate(self, runs: list[Run]) -> dict[str, float]:
        loss = self._summed(self._local_loss(runs, backward=False))
        if not math.isfinite(loss):
            raise TrainerError("not_finite", "the loss is not finite")
        return {"loss": loss}

    def state(self, with_moments: bool) -> bytes:
        tensors = {}
        for name, parameter in self._adapter.matrices.items():
            tensors[name] = parameter.detach().cpu().contiguous()
            if with_moments:
                first, second = self._moments(parameter)
                tensors[FIRST_MOMENT + name] = first.cpu().contiguous()
                tensors[SECOND_MOMENT + name] = second.cpu().contiguous()
        return write_state(tensors, self.steps)

    def close(self) -> None:
        self._adapter.remove()

    @property
    def _parameters(self) -> list[torch.nn.Parameter]:
        return list(self._adapter.matrices.values())

    def _reserve(self) -> None:
        """The memory of every step, so that a training that has none does not begin."""
        for parameter in self._parameters:
            parameter.grad = torch.zeros_like(parameter)
            # As AdamW begins.
            self._optimizer.state[parameter] = {
                "step": torch.tensor(0.0),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }
        if self._base.accelerator.num_processes > 1:
            self._flat = torch.cat([each.grad.flatten() for each in self._parameters])

    def _update(self, norm: float, learning_rate: float) -> None:
        if norm > self._clip_norm:
            for parameter in self._parameters:
                parameter.grad.mul_(self._clip_norm / norm)
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        if self._projection is None:
            self._optimizer.step()
        else:
            self._projection.step(self._optimizer)

    def _local_loss(self, runs: list[Run], backward: bool) -> tuple[float, TrainerError | None]:
        """This process's share. An error waits until all know of it, because the others wait for this process."""
        accelerator = self._base.accelerator
        loss = 0.0
        try:
            if backward:
                self._optimizer.zero_grad(set_to_none=False)
            for run in runs[accelerator.process_index :: accelerator.num_processes]:
                part = loss_of(self._base.model, run, self._base.dtype)
                if backward:
                    part.backward()
                loss += part.item()
        except Exception as error:  # noqa: BLE001
            return 0.0, as_trainer_error(error)
        return loss, None

    def _summed(self, local: tuple[float, TrainerError | None]) -> float:
        loss, error = local
        accelerator = self._base.accelerator
        if accelerator.num_processes > 1:
            loss, failed = add_up(accelerator, [loss, float(error is not None)])
            if failed and error is None:
                error = TrainerError("internal", "another process of the trainer failed with this batch")
        if error is not None:
            raise error
        return loss

    def _sum_gradients(self) -> None:
        if self._base.accelerator.num_processes == 1:
            return
        gradients = [each.grad.view(-1) for each in self._parameters]
        pieces = self._flat.split([each.numel() for each in gradients])
        with together():
            for piece, gradient in zip(pieces, gradients, strict=True):
                piece.copy_(gradient)
            torch.distributed.all_reduce(self._flat)
            for piece, gradient in zip(pieces, gradients, strict=True):
                gradient.copy_(piece)

    def _moments(self, parameter: torch.nn.Parameter) -> tuple[torch.Tensor, torch.Tensor]:
        state = self._optimizer.state[parameter]
        return state["exp_avg"], state["exp_avg_sq"]

    def _restore(self, moments: dict[str, torch.Tensor]) -> None:
        for name, parameter in self._adapter.matrices.items():
            first, second = moments.get(FIRST_MOMENT + name), moments.get(SECOND_MOMENT + name)
            if first is None or second is None or not first.shape == second.shape == parameter.shape:
                raise TrainerError("adapter_invalid", f"the moments of {name} are missing or of another shape")
            self._optimizer.state[parameter] = {
                "step": torch.tensor(float(self.steps)),
                "exp_avg": first.to(parameter.device, copy=True),
                "exp_avg_sq": second.to(parameter.device, copy=True),
            }
