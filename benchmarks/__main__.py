"""Run every benchmark, one after the other."""

from benchmarks import concepts, matching, reading, way

concepts.main()
reading.main()
matching.main()
way.main()
