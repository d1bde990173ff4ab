"""Starts a trainer: `engraft-trainer --model DIR`, or by `accelerate launch` for several GPUs."""

import logging
import signal
import threading

from accelerate import Accelerator

from .checkpoint import content_hash, load_model
from .crew import Crew
from .lease import Lease
from .server import Offer, TrainerServer
from .settings import Settings, parse_settings
from .training import Base


def main(arguments: list[str] | None = None) -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    settings = parse_settings(arguments)
    accelerator = Accelerator()
    model_hash = content_hash(settings.model)
    model = load_model(settings.model, settings.dtype, accelerator.device, settings.checkpointing)
    crew = Crew(Base(model, settings.dtype, accelerator), model_hash)
    # The first process tells the others when to stop.
    signal.signal(signal.SIGTERM, lambda *_: stop(crew) if accelerator.is_main_process else None)
    signal.signal(signal.SIGINT, lambda *_: stop(crew) if accelerator.is_main_process else None)
    server = serve(settings, crew, model_hash, accelerator.num_processes) if accelerator.is_main_process else None
    crew.work()
    if server is not None:
        server.shutdown()
    accelerator.end_training()


def stop(crew: Crew) -> None:
    threading.Thread(target=crew.ask, args=("stop",), daemon=True).start()


def serve(settings: Settings, crew: Crew, model_hash: str, processes: int) -> TrainerServer:
    offer = Offer(
        model_hash,
        processes,
        str(settings.dtype).removeprefix("torch."),
        settings.max_run_tokens,
        settings.max_run_logits,
        settings.max_state_bytes,
    )
    server = TrainerServer((settings.host, settings.port), crew, Lease(settings.lease_seconds), offer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host, port = server.server_address[:2]
    print(f"engraft-trainer listening on http://{host}:{port}", flush=True)
    return server


if __name__ == "__main__":
    main()
