"""Trains LoRA adapters for Engraft with PyTorch and PEFT, over HTTP."""
