"""A fault injector: a trainer whose last process cannot make its second update."""

import os

from engraft_trainer.__main__ import main
from engraft_trainer.training import Training

update = Training._update
updates = 0


def faulty_update(*given: object) -> None:
    global updates
    updates += 1
    if updates == 2 and os.environ["RANK"] == "1":
        raise RuntimeError("not enough memory")
    update(*given)


Training._update = faulty_update
main()
