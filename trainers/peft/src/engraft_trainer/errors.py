"""The errors that a client hears of."""

# The status of each code. The codes are those of the engine's errors, and some of the trainer's own.
STATUSES = {
    "invalid_request": 400,
    "adapter_invalid": 400,
    "session_lost": 404,
    "busy": 409,
    "model_differs": 409,
    "too_large": 413,
    "not_finite": 422,
    "memory_exceeded": 507,
    "internal": 500,
}


class TrainerError(Exception):
    """An error with one of the codes above and a message for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __reduce__(self):
        # It travels between processes.
        return (TrainerError, (self.code, self.message))


class Broken(Exception):
    """The processes no longer agree, or the model is no longer the base model. Nothing can be trained any more."""


def is_broken(error: BaseException | None) -> bool:
    """Whether the process must end. After an error of the GPU every later call fails, too."""
    while error is not None:
        if isinstance(error, Broken) or type(error).__name__ == "AcceleratorError" or "CUDA error" in str(error):
            return True
        error = error.__cause__
    return False


def out_of_memory(error: BaseException) -> bool:
    """Whether PyTorch found no memory. On a processor it says so with a plain RuntimeError."""
    name = type(error).__name__
    return isinstance(error, MemoryError) or name == "OutOfMemoryError" or "not enough memory" in str(error)


def as_trainer_error(error: Exception) -> TrainerError:
    """What a client hears of an error that nobody foresaw: its kind, and nothing that it was sent."""
    if isinstance(error, TrainerError):
        return error
    if out_of_memory(error):
        told = TrainerError("memory_exceeded", "the rows do not fit in the trainer's memory")
    else:
        told = TrainerError("internal", f"the trainer failed with {type(error).__name__}; its log says more")
    # For the log.
    told.__cause__ = error
    return told
