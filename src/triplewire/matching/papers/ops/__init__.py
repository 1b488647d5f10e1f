"""OPS: statement patterns that wait in an array of meta-statements, and a tree of partial mappings for each
subscription (Wang, Jin and Li: An Ontology-Based Publish/Subscribe System, Middleware 2004)."""
