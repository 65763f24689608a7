"""What the simulator answers: a pure function of seed, model, messages and repeat key."""
