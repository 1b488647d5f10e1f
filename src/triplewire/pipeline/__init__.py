"""The way of an event on Spark: sources, stages, sinks. The only home of pyspark."""
