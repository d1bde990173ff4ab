"""Data parallelism over processes of one machine: gradients are averaged through shared memory."""

from __future__ import annotations

import os

import torch
import torch.multiprocessing as multiprocessing
from torch import Tensor


class Workers:
    """Forks ``count`` processes; ``rank`` tells them apart. With one process every call does nothing."""

    def __init__(self, count: int, parameters: list[torch.nn.Parameter], statistics: int):
        self.count, self.rank = count, 0
        self.parameters = parameters
        self.size = sum(parameter.numel() for parameter in parameters)
        if count == 1:
            return
        self.shared = torch.zeros(count, self.size + statistics)
        self.shared.share_memory_()
        self.barrier = multiprocessing.get_context("fork").Barrier(count)
        for rank in range(1, count):
            if os.fork() == 0:
                self.rank = rank
                break

    def average(self, statistics: Tensor) -> Tensor:
        """Average the gradients in place and return the sum of the statistics over all processes."""
        if self.count == 1:
            return statistics
        mine = self.shared[self.rank]
        offset = 0
        for parameter in self.parameters:
            mine[offset : offset + parameter.numel()] = parameter.grad.reshape(-1)
            offset += parameter.numel()
        mine[self.size :] = statistics
        self.barrier.wait()
        mean = self.shared[:, : self.size].mean(0)
        total = self.shared[:, self.size :].sum(0)
        self.barrier.wait()
        offset = 0
        for parameter in self.parameters:
            parameter.grad.copy_(mean[offset : offset + parameter.numel()].view_as(parameter))
            offset += parameter.numel()
        return total

    def agree(self, wish: bool) -> bool:
        """Whether the first process wishes it; the others follow."""
        if self.count == 1:
            return wish
        if self.rank == 0:
            self.shared[0, -1] = float(wish)
        self.barrier.wait()
        agreed = bool(self.shared[0, -1].item())
        self.barrier.wait()
        return agreed
