"""Run every benchmark, one after the other."""

from benchmarks import concepts, matching, reading, subscriptions, way

concepts.main()
reading.main()
subscriptions.main()
matching.main()
way.main()
