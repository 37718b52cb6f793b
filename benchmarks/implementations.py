"""PU-GNN three times: with PyG and in plain PyTorch as a researcher would write it, and with pugnn.

All three have the same network (GCN d → 16 → 1, dropout 0.5), loss (0.6, 0.3, δ = 3), regulariser (mean over edges, K
draws summed, on the hidden layer before its ReLU) and optimiser. `step()` is one epoch: forward, backward, Adam.
"""

from __future__ import annotations

import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from measuring import sized
from pugnn.graph import hop_distances
from pugnn.losses import DistanceAwareLoss, split_near_far
from pugnn.models import GCN, GraphInputs
from pugnn.regularisers import StructuralRegulariser
from pugnn.task import PUTask

DELTA, NEAR, FAR, ALPHA, DRAWS = 3, 0.6, 0.3, 0.01, sized(50, 2)


def adam(first: nn.Module, model: nn.Module) -> torch.optim.Adam:
    decayed = {id(p) for p in first.parameters()}
    others = [p for p in model.parameters() if id(p) not in decayed]
    return torch.optim.Adam([{"params": first.parameters(), "weight_decay": 5e-4}, {"params": others}], lr=0.01)


class _Researcher(nn.Module):
    """The distance-aware loss as one would type it in, which the two plain implementations share."""

    def __init__(self, task: PUTask, device: str = "cpu") -> None:
        super().__init__()
        graph = task.graph
        features = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
        self.x = torch.from_numpy(np.array(features)).to(device)
        self.edge_index = torch.from_numpy(np.stack([graph.sources, graph.indices]).astype(np.int64)).to(device)
        self.num_nodes = graph.num_nodes
        near = hop_distances(graph, task.labelled, cap=DELTA)[task.unlabelled] <= DELTA
        self.labelled = torch.from_numpy(task.labelled).to(device)
        self.near = torch.from_numpy(task.unlabelled[near]).to(device)
        self.far = torch.from_numpy(task.unlabelled[~near]).to(device)

    def pu_loss(self, logit: Tensor) -> Tensor:
        y = torch.sigmoid(logit)
        loss = 2 * (NEAR + FAR) * (y[self.labelled].mean() - 1).abs()
        return loss + (y[self.near].mean() - NEAR).abs() + (y[self.far].mean() - FAR).abs()

    def step(self) -> None:
        self.train()
        self.optimizer.zero_grad()
        z, logit = self.network()
        (self.pu_loss(logit) + ALPHA * self.regulariser(z)).backward()
        self.optimizer.step()

    @torch.no_grad()
    def scores(self) -> np.ndarray:
        self.eval()
        return torch.sigmoid(self.network()[1].double()).cpu().numpy()

    def network(self) -> tuple[Tensor, Tensor]:
        raise NotImplementedError

    def regulariser(self, z: Tensor) -> Tensor:
        raise NotImplementedError


class WithPyG(_Researcher):
    """GCNConv, and structured_negative_sampling once per draw."""

    def __init__(self, task: PUTask, device: str = "cpu") -> None:
        super().__init__(task, device)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from torch_geometric.nn import GCNConv
            from torch_geometric.utils import structured_negative_sampling
        self.sample = structured_negative_sampling
        self.conv1, self.conv2 = GCNConv(self.x.shape[1], 16).to(device), GCNConv(16, 1).to(device)
        self.optimizer = adam(self.conv1.lin, self)

    def network(self) -> tuple[Tensor, Tensor]:
        z = self.conv1(F.dropout(self.x, 0.5, self.training), self.edge_index)
        hidden = F.dropout(F.relu(z), 0.5, self.training)
        return z, self.conv2(hidden, self.edge_index).squeeze(1)

    def regulariser(self, z: Tensor) -> Tensor:
        i, j = self.edge_index
        edges = (torch.sigmoid((z[i] * z[j]).sum(1)) - 1).square().sum()
        non_edges = z.new_zeros(())
        for _ in range(DRAWS):
            _, _, k = self.sample(self.edge_index, self.num_nodes, contains_neg_self_loops=False)
            non_edges = non_edges + torch.sigmoid((z[i] * z[k]).sum(1)).square().sum()
        return (edges + non_edges) / len(i)


class PlainTorch(_Researcher):
    """A dense product with the features, a sparse one with the adjacency; randint and rejection for the negatives."""

    def __init__(self, task: PUTask, device: str = "cpu") -> None:
        super().__init__(task, device)
        loops = torch.arange(self.num_nodes, device=device).repeat(2, 1)
        row, col = torch.cat([self.edge_index, loops], dim=1)
        degree = torch.bincount(row, minlength=self.num_nodes).float()
        values = (degree[row] * degree[col]).rsqrt()
        size = (self.num_nodes, self.num_nodes)
        self.adjacency = torch.sparse_coo_tensor(
            torch.stack([row, col]), values, size, check_invariants=True
        ).coalesce()
        self.keys = (self.edge_index[0] * self.num_nodes + self.edge_index[1]).sort().values
        self.lin1 = nn.Linear(self.x.shape[1], 16, bias=False).to(device)
        self.lin2 = nn.Linear(16, 1, bias=False).to(device)
        nn.init.xavier_uniform_(self.lin1.weight)
        nn.init.xavier_uniform_(self.lin2.weight)
        self.b1, self.b2 = nn.Parameter(torch.zeros(16, device=device)), nn.Parameter(torch.zeros(1, device=device))
        self.optimizer = adam(self.lin1, self)

    def network(self) -> tuple[Tensor, Tensor]:
        z = torch.sparse.mm(self.adjacency, self.lin1(F.dropout(self.x, 0.5, self.training))) + self.b1
        hidden = F.dropout(F.relu(z), 0.5, self.training)
        return z, (torch.sparse.mm(self.adjacency, self.lin2(hidden)) + self.b2).squeeze(1)

    def negatives(self) -> Tensor:
        i = self.edge_index[0].repeat_interleave(DRAWS)
        k = torch.randint(self.num_nodes, i.shape, device=i.device)
        again = torch.arange(len(i), device=i.device)
        while len(again):
            key = i[again] * self.num_nodes + k[again]
            at = torch.searchsorted(self.keys, key).clamp_max(len(self.keys) - 1)
            again = again[(self.keys[at] == key) | (i[again] == k[again])]
            k[again] = torch.randint(self.num_nodes, again.shape, device=i.device)
        return k

    def regulariser(self, z: Tensor) -> Tensor:
        i, j = self.edge_index
        edges = (torch.sigmoid((z[i] * z[j]).sum(1)) - 1).square().sum()
        i_repeated, k = i.repeat_interleave(DRAWS), self.negatives()
        non_edges = torch.sigmoid((z[i_repeated] * z[k]).sum(1)).square().sum()
        return (edges + non_edges) / len(i)


class WithPugnn(nn.Module):
    """The parts of pugnn that its own training loop puts together."""

    def __init__(self, task: PUTask, device: str = "cpu") -> None:
        super().__init__()
        self.graph, self.inputs = task.graph, GraphInputs(task.graph, device)
        self.model = GCN(task.graph.num_features).to(device)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.sets = split_near_far(task, DELTA).to(device)
        self.loss, self.structural, self.steps = DistanceAwareLoss(NEAR, FAR), StructuralRegulariser(DRAWS), 0
        self.optimizer = adam(self.model.first_layer, self.model)

    def network(self) -> tuple[Tensor, Tensor]:
        return self.model(self.inputs)

    def regulariser(self, z: Tensor) -> Tensor:
        self.steps += 1
        terms = self.structural(z, self.graph, seed=self.steps)
        return terms["edges"] + terms["non_edges"]

    def step(self) -> None:
        self.model.train()
        self.optimizer.zero_grad()
        z, logit = self.network()
        terms = self.loss(logit, self.sets)
        (sum(terms.values()) + ALPHA * self.regulariser(z)).backward()
        self.optimizer.step()

    @torch.no_grad()
    def scores(self) -> np.ndarray:
        self.model.eval()
        return torch.sigmoid(self.network()[1].double()).cpu().numpy()


IMPLEMENTATIONS = {"PyG": WithPyG, "plain PyTorch": PlainTorch, "pugnn": WithPugnn}
