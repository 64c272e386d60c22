"""Instances and schedules: frozen, validated data with JSON in both directions."""

from cchybrid.model.collective import Collective, Message, Reduction
from cchybrid.model.communication import CommunicationModel
from cchybrid.model.instance import Instance
from cchybrid.model.network import Channel, Network
from cchybrid.model.schedule import LowerBound, Schedule, Steps, Transfer

__all__ = [
    "Channel",
    "Collective",
    "CommunicationModel",
    "Instance",
    "LowerBound",
    "Message",
    "Network",
    "Reduction",
    "Schedule",
    "Steps",
    "Transfer",
]
