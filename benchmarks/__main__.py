"""Run every benchmark, one after the other."""

from benchmarks import canonical, concepts, matching, papers, reading, subscriptions, way

canonical.main()
concepts.main()
reading.main()
subscriptions.main()
matching.main()
papers.main()
way.main()
