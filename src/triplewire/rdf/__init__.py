"""Terms, event graphs, and RDF's syntaxes."""
