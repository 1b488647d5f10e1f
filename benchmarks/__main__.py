"""Run every benchmark, one after the other."""

from benchmarks import (
    canonical,
    concepts,
    forest,
    gtopss,
    index,
    matching,
    papers,
    reading,
    relatives,
    subscriptions,
    way,
)

canonical.main()
concepts.main()
reading.main()
subscriptions.main()
relatives.main()
matching.main()
papers.main()
gtopss.main()
forest.main()
index.main()
way.main()
