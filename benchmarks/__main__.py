"""Run every benchmark, one after the other."""

from benchmarks import matching, way

matching.main()
way.main()
