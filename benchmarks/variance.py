"""Measure how far one sampled gradient of the structural regulariser is from the exact one, on Cora.

    python benchmarks/variance.py

Values are relative errors (root mean square over 20 draws) of the gradient of the second sum, with respect to the
embedding and, through the network, to the weights: at the initial weights, and after 200 epochs with the regulariser
alone.
"""

from __future__ import annotations

import torch

from measuring import machine, sized, table
from pugnn.datasets import load_dataset
from pugnn.models import GCN, GraphInputs
from pugnn.regularisers import StructuralRegulariser

SEEDS, EPOCHS = sized((20, 200), (2, 1))


def gradients(model: GCN, inputs: GraphInputs, regulariser: StructuralRegulariser, seed: int) -> list[torch.Tensor]:
    embedding = model(inputs).embedding
    term = regulariser(embedding, inputs.graph, seed=seed)["non_edges"]
    return list(torch.autograd.grad(term, [embedding, model.first_layer.linear.weight]))


def errors(model: GCN, inputs: GraphInputs, draws: int) -> list[float]:
    exact = gradients(model, inputs, StructuralRegulariser(draws), None)
    sampled = [gradients(model, inputs, StructuralRegulariser(draws), seed) for seed in range(SEEDS)]
    return [
        float((sum((s[at] - exact[at]).square().sum() for s in sampled) / SEEDS).sqrt() / exact[at].norm())
        for at in range(2)
    ]


def main() -> None:
    print(machine(), "\n")
    torch.manual_seed(0)
    inputs = GraphInputs(load_dataset("cora").graph)
    model = GCN(inputs.graph.num_features, dropout=0.0)
    rows = []
    for when in ("initial weights", "after 200 epochs"):
        if when != "initial weights":
            optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
            for epoch in range(EPOCHS):
                optimizer.zero_grad()
                sum(StructuralRegulariser()(model(inputs).embedding, inputs.graph, seed=epoch).values()).backward()
                optimizer.step()
        for draws in sized((1, 10, 50, 200), (1,)):
            found = errors(model, inputs, draws)
            rows.append([f"{when}, K = {draws}", *(f"{100 * value:.1f} %" for value in found)])
    print(table(["relative error of the gradient", "embedding", "weights"], rows))


if __name__ == "__main__":
    main()
