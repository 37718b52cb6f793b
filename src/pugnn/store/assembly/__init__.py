"""From what a user gives, by relation and by kind of node, to the arrays of a graph."""
