"""Notifications as they are sent to subscribers: webhooks, mail, followers of feeds."""
