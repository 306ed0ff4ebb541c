"""From which sizes does one version pay over another?"""
