"""Adam, with a penalty for each group of parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor
from torch.optim.adam import adam


class Adam:
    """The algorithm of :class:`torch.optim.Adam`, bit for bit: both call the same function.

    torch's class also imports torch's compiler, which takes longer than training on a small graph.

    Args:
        groups: parameters, and the factor of their L2 penalty.
        rate: the learning rate, which may change between steps.
    """

    def __init__(self, groups: Iterable[tuple[Sequence[Tensor], float]], rate: float) -> None:
        self.rate = rate
        self._groups = [(list(parameters), penalty) for parameters, penalty in groups]
        self._parameters = [parameter for parameters, _ in self._groups for parameter in parameters]
        self._states: dict[Tensor, dict[str, Tensor]] = {}

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for parameter in self._parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Move every parameter that has a gradient."""
        for parameters, penalty in self._groups:
            moved = {parameter: parameter.grad for parameter in parameters if parameter.grad is not None}
            if not moved:
                continue
            states = [self._state(parameter) for parameter in moved]
            adam(
                list(moved),
                list(moved.values()),
                [state["exp_avg"] for state in states],
                [state["exp_avg_sq"] for state in states],
                [],
                [state["step"] for state in states],
                capturable=parameters[0].is_cuda,  # for replay of recorded steps
                amsgrad=False,
                beta1=0.9,
                beta2=0.999,
                lr=self.rate,
                weight_decay=penalty,
                eps=1e-8,
                maximize=False,
            )

    def _state(self, parameter: Tensor) -> dict[str, Tensor]:
        if parameter not in self._states:
            moments = {name: torch.zeros_like(parameter) for name in ("exp_avg", "exp_avg_sq")}
            # Where steps are replayed, their count must be on the device.
            self._states[parameter] = {"step": torch.zeros((), device=parameter.device), **moments}
        return self._states[parameter]

    def state(self) -> dict[str, Tensor]:
        """A copy of all counts and moments, named by the number of the parameter."""
        states = ((number, self._states.get(parameter, {})) for number, parameter in enumerate(self._parameters))
        return {f"{number}.{name}": value.clone() for number, state in states for name, value in state.items()}

    def restore(self, saved: dict[str, Tensor]) -> None:
        """Go on from an earlier state."""
        for key, value in saved.items():
            number, name = key.split(".", 1)
            self._state(self._parameters[int(number)])[name].copy_(value)
