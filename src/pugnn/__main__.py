"""``python -m pugnn``, and with it ``torchrun --nproc-per-node 2 -m pugnn fit …``."""

from pugnn.cli import main

if __name__ == "__main__":
    main()
