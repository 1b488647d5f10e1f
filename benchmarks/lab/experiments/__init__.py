"""A module for each subject, with its experiments and the figures that show them."""
