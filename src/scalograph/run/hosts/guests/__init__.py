"""Runs in QEMU guests: kernel packages come in, each run boots one of them, its record goes out.

`guest.GuestHost` is the host, `guest_process.GuestProcess` one guest, `kernel_packages.fetch_kernel` gets a kernel.
"""
