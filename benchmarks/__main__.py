"""Run every benchmark, one after the other."""

from benchmarks import concepts, matching, papers, reading, subscriptions, way

concepts.main()
reading.main()
subscriptions.main()
matching.main()
papers.main()
way.main()
