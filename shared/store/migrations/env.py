"""Runs revisions on the connection that `migrate` has opened and locked."""

from alembic import context

from biaswatch.shared.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # Everything or nothing: both databases can take back a change of shape.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
