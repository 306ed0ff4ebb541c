"""Stop 2, plan: a `Study` and a host's facts to runs in order, behind ask and tell."""
