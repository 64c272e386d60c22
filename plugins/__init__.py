"""The engines that ship with cchybrid."""
