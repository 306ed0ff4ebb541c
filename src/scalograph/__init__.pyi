"""What `scalograph` offers, for whoever checks types."""

from scalograph.analysis.estimate import Estimate
from scalograph.notebook.fitted import fit_usl
from scalograph.notebook.opened import open_results as open  # noqa: A004  as people call it: scalograph.open

__all__ = ["Estimate", "fit_usl", "open"]
__version__: str
