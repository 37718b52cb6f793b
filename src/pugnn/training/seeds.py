"""Independent seeds from one."""

from __future__ import annotations

import numpy as np


def derive_seed(seed: int, *path: int) -> int:
    """A 63-bit seed that depends on ``seed`` and on every number of ``path``.

    All randomness of an epoch comes from ``derive_seed(seed, epoch, …)``, so that a resumed run needs no state of a
    generator.

    Example:
        >>> derive_seed(0, 1) == derive_seed(0, 1), derive_seed(0, 1) == derive_seed(0, 2)
        (True, False)
    """
    # The length is included because a SeedSequence ignores trailing zeros.
    sequence = np.random.SeedSequence([len(path), seed, *path])
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))
