"""The noise floor of a machine: how much runs of the same work differ, kept, and looked at again later."""
