"""Instances and schedules: frozen, validated data with JSON in both directions."""

from cchybrid.model.collective import AllReduction, AnyMessage, Collective, Message, Reduction
from cchybrid.model.communication import CommunicationModel
from cchybrid.model.instance import Instance
from cchybrid.model.network import Channel, Network
from cchybrid.model.routing_table import RoutingTable
from cchybrid.model.schedule import LowerBound, Schedule, Steps, Sums, Transfer

__all__ = [
    "AllReduction", "AnyMessage", "Channel", "Collective", "CommunicationModel", "Instance",
    "LowerBound", "Message", "Network", "Reduction", "RoutingTable", "Schedule", "Steps", "Sums",
    "Transfer",
]  # fmt: skip
