"""From what run_compute.sh kept to the records under docs/{chip,train,infer}/measured/.

`lines` reads and shapes, `chip`, `train`, `parallel` and `infer` say what each record holds,
`records` puts machine, day and programs around it.
"""
