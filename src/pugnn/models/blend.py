"""Several scores of a node, from the views of its attributes, blended into one."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pugnn.errors import PugnnError
from pugnn.features.structural import WIDTH
from pugnn.graph.compiling import kernel
from pugnn.models.backbone import Backbone, Output, linear, require_sizes
from pugnn.models.dropout import dropout
from pugnn.models.inputs import GraphInputs, RowInputs
from pugnn.models.views import VIEWS, Attributes, make_views, side_by_side
from pugnn.models.views.rows import Rows, hold

#: The scores that are blended.
SCORES = ("contrast", "linear", "perceptron")
#: Scores whose spread is no more than this share of the largest differ by rounding alone.
EQUAL = 1e-6
#: What is not in single precision: scores are in double precision, so that confident ones keep their order.
_TYPES = {"standardised": torch.bool, **dict.fromkeys(("shares", "means", "spreads", "cut"), torch.float64)}


class Committee(Backbone):
    """A perceptron and linear models, on the same rows, trained side by side.

    Its embedding has their logits as columns: the perceptron's, then those of the linear models. All weights decay.

    Args:
        width: number of inputs.
        hidden: size of the perceptron's hidden layer.
        dropout: share of the inputs, and of the hidden units, that is dropped in training.
        linear_models: how many.
    """

    reads_edges = False
    uses_weights = True

    def __init__(self, width: int, *, hidden: int, dropout: float, linear_models: int) -> None:
        super().__init__()
        require_sizes(hidden, dropout)
        self.hidden = linear(width, hidden)
        self.head = linear(hidden, 1)
        self.linear = nn.Linear(width, linear_models)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)
        self.dropout = dropout

    @torch.no_grad()
    def start_from(self, blend: Mapping[str, Tensor]) -> None:
        """Take over the perceptron and the linear model of a blend.

        Only the first linear model starts there: labels that are hidden from the others were not hidden from that one.
        """
        for mine, earlier in (
            (self.hidden.weight, blend["hidden"].t()),
            (self.hidden.bias, blend["hidden_bias"]),
            (self.head.weight[0], blend["head"]),
            (self.linear.weight[0], blend["linear"]),
        ):
            mine.copy_(earlier)

    @property
    def first_layer(self) -> nn.Module:  # type: ignore[override]
        """All layers."""
        return self

    def forward(self, inputs: GraphInputs) -> Output:
        """Score rows."""
        assert isinstance(inputs, RowInputs)
        x = dropout(inputs.features, self.dropout, self.training, inputs.places)
        hidden = dropout(F.relu(_affine(self.hidden, x)), self.dropout, self.training, inputs.places)
        logits = torch.cat([_affine(self.head, hidden), _affine(self.linear, x)], dim=1)
        return Output(logits, logits[:, 0])


def _affine(layer: nn.Linear, x: Tensor) -> Tensor:
    shifted: Tensor = _Shift.apply(F.linear(x, layer.weight), layer.bias)  # type: ignore[no-untyped-call]
    return shifted


class _Shift(torch.autograd.Function):
    """Adds a bias, whose gradient is a sum over all rows, in double precision.

    While scores are near one half, known and unlabelled nodes cancel each other in it. In single precision rounding
    would be left, which depends on how a batch is shared between processes, and which Adam scales up to full steps.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, bias: Tensor) -> Tensor:  # noqa: ARG004 (nothing to keep for later)
        return x + bias

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:  # noqa: ARG004
        if gradient.device.type == "cpu":  # where torch would make a copy of all numbers in double precision
            total = torch.zeros(gradient.shape[1], dtype=torch.float64)
            _add_rows(gradient.contiguous().numpy(), total.numpy())
        else:
            total = gradient.sum(dim=0, dtype=torch.float64)
        return gradient, total.to(gradient.dtype)


@kernel(nogil=True)
def _add_rows(values, total):  # type: ignore[no-untyped-def]
    rows, columns = values.shape
    for i in range(rows):
        for j in range(columns):
            total[j] += values[i, j]


class Blend(Backbone):
    r"""The blended logit :math:`\gamma \big(\sum_j \alpha_j (g_j - m_j) / s_j - t\big)` of every node.

    :math:`g_j` are the scores in :data:`SCORES`, of the weighted views side by side; :math:`m_j` and :math:`s_j` are
    their means and standard deviations over the unlabelled nodes, :math:`\alpha_j` their shares, and :math:`t` is where
    decisions change. :class:`pugnn.methods.Views` fills all of it in; the sizes depend on its data.

    Args:
        num_features: number of attributes; a graph without any has structural ones.
    """

    #: γ: a score turns from undecided to confident within a standard deviation.
    SLOPE = 4.0

    uses_weights = True

    centre: Tensor
    scale: Tensor
    standardised: Tensor
    view_weights: Tensor
    contrast: Tensor
    linear: Tensor
    hidden: Tensor
    hidden_bias: Tensor
    head: Tensor
    shares: Tensor
    means: Tensor
    spreads: Tensor
    cut: Tensor

    def __init__(self, num_features: int) -> None:
        super().__init__()
        self._columns = num_features or WIDTH
        for name in Blend.__annotations__:
            self.register_buffer(name, torch.empty(0, dtype=_TYPES.get(name, torch.float32)))
        self._kept: tuple[GraphInputs, weakref.ref[Rows]] | None = None

    def fill(self, **values: Tensor) -> None:
        """Set parts of it."""
        for name, value in values.items():
            setattr(self, name, value.detach().clone(memory_format=torch.contiguous_format))

    @staticmethod
    def only(direction: Tensor) -> dict[str, Tensor]:
        """What to fill in for the product of the first view with a direction, and nothing else."""
        weights, shares = torch.zeros(len(VIEWS)), torch.zeros(len(SCORES), dtype=torch.float64)
        weights[0], shares[0] = 1.0, 1.0
        none = direction.new_empty(0)
        hidden = {"hidden": direction.new_empty(len(direction), 0), "hidden_bias": none, "head": none}
        return {
            "view_weights": weights,
            "contrast": direction,
            "linear": torch.zeros_like(direction),
            **hidden,
            "shares": shares,
        }

    @property
    def attributes(self) -> Attributes:
        """How it reads the attributes of nodes."""
        width = len(self.contrast) // int((self.view_weights > 0).sum())
        return Attributes(self.centre.cpu().numpy(), self.scale.cpu().numpy(), width, bool(self.standardised))

    def rows(self, inputs: GraphInputs) -> Rows:
        """The weighted views side by side, shape ``(N, W)``."""
        if self._kept is not None and self._kept[0] is inputs and (kept := self._kept[1]()) is not None:
            return kept
        used = [name for name, weight in zip(VIEWS, self.view_weights, strict=True) if weight > 0]
        views = make_views(self.attributes, inputs, used, half=self.reduces(inputs.graph))
        return side_by_side(views, self.view_weights)

    def keep(self, inputs: GraphInputs, rows: Rows) -> None:
        """Use rows that were computed already, as long as they are in memory (:func:`rows_held`).

        The graph of a training is scored, and asked about, right after it.
        """
        hold(rows)
        self._kept, self.from_half = (inputs, weakref.ref(rows)), rows.tables[0].dtype == torch.float16

    def scores(self, rows: Rows) -> Tensor:
        """The single scores, one column each, shape ``(N, 3)``."""
        return torch.cat([self._scores(chunk) for chunk in rows.chunks()])

    def _scores(self, rows: Tensor) -> Tensor:
        perceptron = F.relu(rows @ self.hidden + self.hidden_bias) @ self.head
        return torch.stack([rows @ self.contrast, rows @ self.linear, perceptron], dim=1)

    def forward(self, inputs: GraphInputs) -> Output:
        """Score every node of a graph."""
        scores = self.scores(self.rows(inputs)).double()
        return Output(scores, self.SLOPE * (self.blended(scores) - self.cut))

    def blended(self, scores: Tensor) -> Tensor:
        """The single scores, standardised and added up by their shares, shape ``(N,)``."""
        return ((scores - self.means) / self.spreads * self.shares).sum(dim=1)

    def cut_at(self, rows: Rows, unlabelled: Tensor, prior: float) -> None:
        """Standardise the scores over the unlabelled nodes, and cut off the share ``prior`` of these.

        Args:
            rows: of all nodes, as :meth:`forward` has them: products with fewer rows are rounded differently.
            unlabelled: positions of the unlabelled nodes.
            prior: positive share of them.
        """
        scores = self.scores(rows).double()[unlabelled]
        spreads = scores.std(dim=0, correction=0)
        equal = spreads <= EQUAL * scores.abs().amax(dim=0)  # rounding must not become a ranking
        self.fill(means=scores.mean(dim=0), spreads=spreads.masked_fill(equal, 1.0))
        blended = self.blended(scores).sort(descending=True).values
        last = min(max(1, round(prior * len(blended))), max(1, len(blended) - 1)) - 1  # neither nobody nor everybody
        self.fill(cut=blended[last : last + 2].mean())

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": None}  # a copy computes them anew, if it needs them

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        for name in Blend.__annotations__:
            setattr(self, name, torch.empty_like(state_dict[f"{prefix}{name}"]))  # sized as they were saved
        super()._load_from_state_dict(state_dict, prefix, *rest)
        width, hidden = self.contrast.numel(), self.head.numel()
        sizes: dict[str, tuple[int, ...]] = {
            "centre": (self._columns,),
            "scale": (self._columns,),
            "standardised": (),
            "view_weights": (len(VIEWS),),
            "contrast": (width,),
            "linear": (width,),
            "hidden": (width, hidden),
            "hidden_bias": (hidden,),
            "head": (hidden,),
            **dict.fromkeys(("shares", "means", "spreads"), (len(SCORES),)),
            "cut": (),
        }
        for name, size in sizes.items():
            given = tuple(getattr(self, name).shape)
            if given != size:
                raise PugnnError(f"its weights {name} have the shape {given}, not {size}")
        views = int((self.view_weights > 0).sum())
        if not views or (self.view_weights < 0).any():
            raise PugnnError(f"its view_weights {self.view_weights.tolist()} must not be negative, nor all zero")
        if width % views or not 0 < width // views <= self._columns + bool(self.standardised):
            raise PugnnError(
                f"its contrast has {width} entries, which {views} views of {self._columns} columns have not; "
                "train again"
            )
        for name in ("scale", "spreads"):
            if not (getattr(self, name) > 0).all():
                raise PugnnError(f"its weights {name} must be positive")
