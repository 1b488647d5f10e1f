"""What alembic runs to migrate: on the connection, and in the transaction, of whoever asks for it."""

from __future__ import annotations

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    version_table=context.config.attributes["version_table"],
)
context.run_migrations()
