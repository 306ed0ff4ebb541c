"""Runs on other machines: program and probe are copied over ssh, records come back.

`ssh.SshHost` is the host, `ssh_machine.SshMachine` the connection with its folder and lock, `reboot.RebootHost` boots
the kernel that a run asks for.
"""
