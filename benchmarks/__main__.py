"""Run every benchmark, one after the other."""

from benchmarks import (
    canonical,
    concepts,
    filters,
    forest,
    gtopss,
    index,
    interests,
    matching,
    papers,
    reading,
    relatives,
    stw,
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
filters.main()
index.main()
interests.main()
stw.main()
way.main()
