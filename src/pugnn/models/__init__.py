"""Backbones: networks that compute an embedding and a logit for each node."""

from pugnn.models.appnp import APPNP
from pugnn.models.backbone import BACKBONES, Backbone, BackboneLike, Output, Scored, backbone_name, make_backbone
from pugnn.models.gat import GAT
from pugnn.models.gcn import GCN
from pugnn.models.gin import GIN
from pugnn.models.inputs import GraphInputs, SampledInputs, inputs_on
from pugnn.models.lsdan import LSDAN
from pugnn.models.mlp import MLP
from pugnn.models.propagation import Propagation
from pugnn.models.sage import GraphSAGE

__all__ = [
    "APPNP",
    "BACKBONES",
    "GAT",
    "GCN",
    "GIN",
    "LSDAN",
    "MLP",
    "Backbone",
    "BackboneLike",
    "GraphInputs",
    "GraphSAGE",
    "Output",
    "Propagation",
    "SampledInputs",
    "Scored",
    "backbone_name",
    "inputs_on",
    "make_backbone",
]
