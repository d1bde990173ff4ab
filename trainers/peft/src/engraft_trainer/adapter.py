"""The adapter under training: PEFT's layers in the base model, and their matrices by PEFT's names."""

import warnings
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import PreTrainedModel

from .errors import TrainerError

# Fields that the engine writes. Others would ask PEFT for something that the engine does not know.
FIELDS = frozenset(
    "alpha_pattern base_model_name_or_path bias fan_in_fan_out inference_mode layers_to_transform lora_alpha "
    "lora_dropout peft_type r rank_pattern target_modules task_type use_rslora".split()
)
PREFIX = "base_model.model."


class Adapter:
    """Puts an adapter into the model. `remove` leaves the model as it was."""

    def __init__(self, model: PreTrainedModel, config: dict[str, Any], tensors: dict[str, torch.Tensor]) -> None:
        unknown = sorted(set(config) - FIELDS)
        if unknown or config.get("peft_type") != "LORA" or config.get("lora_dropout") != 0:
            raise TrainerError("adapter_invalid", f"adapter_config has what is not supported: {', '.join(unknown)}")
        try:
            # The matrices that PEFT draws are replaced below.
            lora = LoraConfig(**{**config, "inference_mode": False})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.model: PeftModel = get_peft_model(model, lora)
        except (TypeError, ValueError) as error:
            raise TrainerError("adapter_invalid", f"PEFT refuses the adapter: {error}") from None
        # In the model's order: A and B of each projection.
        self.matrices: dict[str, torch.nn.Parameter] = {
            name.replace(".default.", "."): parameter
            for name, parameter in self.model.named_parameters()
            if ".lora_" in name
        }
        try:
            self._fill(tensors)
        except TrainerError:
            self.remove()
            raise

    def _fill(self, tensors: dict[str, torch.Tensor]) -> None:
        if set(tensors) != set(self.matrices):
            raise TrainerError("adapter_invalid", "the matrices are not those that adapter_config asks for")
        for name, parameter in self.matrices.items():
            if tensors[name].shape != parameter.shape:
                raise TrainerError("adapter_invalid", f"{name} has another shape than the model asks for")
            # Also where the model is in bfloat16: steps are smaller than it could tell apart.
            parameter.data = tensors[name].to(parameter.device, torch.float32, copy=True)
            parameter.requires_grad_(True)

    def remove(self) -> None:
        self.model.unload()


def lora_inputs(adapter: Adapter) -> dict[str, torch.nn.Module]:
    """The adapted projections, by the name of their A."""
    modules = dict(adapter.model.named_modules())
    return {name: modules[name.removesuffix(".lora_A.weight")] for name in adapter.matrices if ".lora_A." in name}
