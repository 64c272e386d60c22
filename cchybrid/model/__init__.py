"""Instances and schedules: frozen, validated data with JSON in both directions."""

from cchybrid.model.collective import (
    AllReduction,
    AnyMessage,
    Collective,
    Exscan,
    Message,
    Reduction,
    Scan,
    SummedMessage,
)
from cchybrid.model.communication import CommunicationModel
from cchybrid.model.instance import Instance
from cchybrid.model.network import Channel, Network
from cchybrid.model.routing_table import RoutingTable
from cchybrid.model.schedule import LowerBound, Schedule, Sums
from cchybrid.model.steps import FlatSteps, Steps, Transfer

__all__ = [
    "AllReduction", "AnyMessage", "Channel", "Collective", "CommunicationModel", "Exscan",
    "FlatSteps", "Instance", "LowerBound", "Message", "Network", "Reduction", "RoutingTable",
    "Scan", "Schedule", "Steps", "SummedMessage", "Sums", "Transfer",
]  # fmt: skip
