"""Machines that make runs: a `Specification` of one run comes in, a checked `Record` goes out.

`base.Host` is the protocol of a host, `base.Specification` one run as it is asked for, `host_names.HOSTS` the registry.
`local` starts a probe here, `guests` boot a kernel in QEMU for each run, `remote` uses ssh, `services` keeps services
up over the runs of a block, `python_probe` is the probe without Rust.
"""
