"""The command line."""

import argparse
from dataclasses import dataclass
from pathlib import Path

import torch

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@dataclass(frozen=True)
class Settings:
    model: Path
    host: str
    port: int
    dtype: torch.dtype
    checkpointing: bool
    lease_seconds: float
    max_run_tokens: int
    max_run_logits: int
    max_state_bytes: int


def parse_settings(arguments: list[str] | None = None) -> Settings:
    on_gpu = torch.cuda.is_available()
    parser = argparse.ArgumentParser(prog="engraft-trainer", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="the checkpoint of ENGRAFT_MODEL_DIR")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8090, help="0: any free port")
    parser.add_argument("--dtype", choices=DTYPES, default="bfloat16" if on_gpu else "float32")
    parser.add_argument(
        "--gradient-checkpointing",
        action=argparse.BooleanOptionalAction,
        default=on_gpu,
        help="computes layers again in the backward pass, which takes less memory",
    )
    parser.add_argument("--lease-seconds", type=float, default=30.0, help="a silent client loses its session")
    parser.add_argument("--run-tokens", type=int, default=16_384 if on_gpu else 512, help="the most in one run")
    parser.add_argument("--run-logits", type=int, default=2**28 if on_gpu else 2**25, help="the most in one run")
    parser.add_argument("--max-state-bytes", type=int, default=2**32, help="the most that opens a session")
    given = parser.parse_args(arguments)
    return Settings(
        given.model,
        given.host,
        given.port,
        DTYPES[given.dtype],
        given.gradient_checkpointing,
        given.lease_seconds,
        given.run_tokens,
        given.run_logits,
        given.max_state_bytes,
    )
