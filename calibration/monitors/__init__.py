"""Simulates whole monitors through the diagnoser's decisions, and checks what they promise."""
