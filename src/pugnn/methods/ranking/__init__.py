"""Rankings that need no prior, of one graph and of the layers of one with relations; several methods use them."""
