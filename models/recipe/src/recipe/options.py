"""What a run is told: the options of ``pretrain``, by flags or by the file of a run that was made."""

from __future__ import annotations

import argparse
from pathlib import Path


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description="Pretrain the base model.")
    add_data_options(made)
    add_schedule_options(made)
    made.add_argument("--name", default="base", help="of the folder of checkpoints")
    made.add_argument("--processes", type=int, default=2)
    made.add_argument("--loaders", type=int, default=0, help="processes that make the data beside one that trains")
    made.add_argument("--save-every", type=int, default=100, help="steps between checkpoints")
    made.add_argument("--seconds", type=float, default=float("inf"), help="save and stop after this time, to be resumed")
    made.add_argument("--float32", action="store_true", help="products in float32: faster on a CPU without fast bfloat16")
    made.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True)
    made.add_argument("--layers", type=int, help="by default as in --start")
    made.add_argument("--intermediate", type=int, help="feed-forward width, by default as in --start")
    made.add_argument("--start", type=Path, help="folder of an exported model of the same width to start from")
    return made


def add_data_options(made: argparse.ArgumentParser) -> None:
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--world", type=float, default=0.87, help="share of English tasks once binding is mastered")
    made.add_argument("--early-world", type=float, default=0.0, help="share of English tasks before that")
    made.add_argument("--squad", help="SQuAD as gzipped JSON lines; empty: not used")
    made.add_argument("--squad-share", type=float, default=0.4, help="share of SQuAD among the English chats")
    made.add_argument(
        "--texts-share", type=float, default=0.3, help="share of passages written whole among the English chats"
    )


def add_schedule_options(made: argparse.ArgumentParser) -> None:
    made.add_argument("--tokens", type=float, default=100e6, help="tokens to train on in all")
    made.add_argument("--batch", type=int, default=2048, help="tokens per step and process")
    made.add_argument("--rate", type=float, default=2e-3, help="learning rate")
    made.add_argument("--decay", type=float, default=0.3, help="share of the tokens over which the rate falls")
    made.add_argument(
        "--optimiser", choices=("adamw", "muon"), default="adamw",
        help="of the layers' matrices; all else is always AdamW's",
    )  # fmt: skip
