"""Results and laws as a notebook uses them: `scalograph.open`, `scalograph.fit_usl`."""
