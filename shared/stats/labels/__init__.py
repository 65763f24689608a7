"""Labels of people: agreement, sampling, and findings corrected for an instrument's error."""
