"""The bus: NATS JetStream carries records between services; the store keeps them."""
