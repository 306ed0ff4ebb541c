"""Facts of this machine, and what Scalograph keeps on it outside of results.

In: /proc, /sys, cgroup trees, environment variables. Out: CPU topology, caches, JVMs, load samples, locks and private
folders. It changes only its own leaves, locks and folders; changes of settings belong to `control/`.

Types to know: `CgroupTree` (one mounted hierarchy with our leaves), `PrivateDir` (a checked folder of this user) and
`LoadSample` (who used the CPUs while nothing of ours ran).
"""
