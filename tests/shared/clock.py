"""Time that passes when it is looked at: limits are reached after the same work on every machine."""

import sys
import time
from types import SimpleNamespace


class SteppedTime:
    """Seconds that grow by `step` with each look."""

    def __init__(self, step):
        self.step, self.looks = step, 0

    def __call__(self):
        self.looks += 1
        return self.step * self.looks


def stepped_time(monkeypatch, step):
    """Give all modules of linsep that are loaded a time that grows by `step` seconds with each look, and return it."""
    clock = SteppedTime(step)
    clocks = dict.fromkeys(("monotonic", "perf_counter"), clock)
    stand_in = SimpleNamespace(**{**vars(time), **clocks})
    real = {getattr(time, name) for name in clocks}
    for module in [module for name, module in sys.modules.items() if name.split(".")[0] == "linsep"]:
        for name, value in list(vars(module).items()):
            if value is time:
                monkeypatch.setattr(module, name, stand_in)
            elif any(value is function for function in real):
                monkeypatch.setattr(module, name, clock)
    return clock
