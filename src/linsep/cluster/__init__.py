"""Examples on many machines: the same estimators where the data are, on Dask (`linsep.dask`), on Spark.

What no engine knows: `tree` adds in a fixed order, `parts` is what a worker does, `examples` what a solver sees,
`rounds` what that took, `checkpoint` from what a lost client goes on, `fitting` the way from partitions to a model,
`plan` what it will take. An engine is one file with an `Engine` (see `examples`) and the collections that it reads.
"""
