"""What the operator does with a resource: asks the gateway, and tells the resource."""
