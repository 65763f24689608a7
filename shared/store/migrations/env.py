"""Runs revisions on the connection that `migrate` has opened and locked."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    # All or nothing: both databases can roll back schema changes.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
