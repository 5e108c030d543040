"""The tests of the kernels under AddressSanitizer and UndefinedBehaviorSanitizer, which end the process at a fault.

    python attacks/sanitize.py [tests/core tests/test_hostile_arrays.py]    # arguments of pytest

The first run compiles the kernels with both sanitizers into `build/sanitized`, which takes minutes: those for any
processor and those for AVX2. Tests call those that the processor suits; `LINSEP_KERNELS=baseline` has those for any.
"""

from __future__ import annotations

import os
import sys

from fuzzing.sanitizing import ROOT, look_there, sanitized


def main() -> int:
    if "LINSEP_SANITIZED" not in os.environ:
        return sanitized(sys.argv)
    look_there()
    import pytest

    from linsep._core.loading import kernels_in_use

    print(f"kernels: {kernels_in_use()}")
    os.chdir(ROOT)
    chosen = sys.argv[1:] or ["tests/core", "tests/test_hostile_arrays.py"]
    # In this process, whose import is the right one; tests of memory and of other processes measure the sanitizer.
    return int(pytest.main(["-n0", "-p", "no:cacheprovider", "-p", "no:faulthandler", *chosen]))


if __name__ == "__main__":
    sys.exit(main())
