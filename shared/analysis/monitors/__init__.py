"""What a closed round of a monitor adds to its evidence, and what the sum allows to say."""
