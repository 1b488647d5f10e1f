"""Notifications as subscribers read them: lists, streams, feeds."""
