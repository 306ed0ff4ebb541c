"""Stop 2, plan: from a `Study` and a host's facts to runs in order, behind ask and tell."""
