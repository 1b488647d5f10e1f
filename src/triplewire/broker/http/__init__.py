"""What every request and answer has: limits, problems, pages of lists, tags, the description of the API."""
