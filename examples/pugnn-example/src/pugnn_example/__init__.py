"""A method, a backbone and a data set for pugnn."""
