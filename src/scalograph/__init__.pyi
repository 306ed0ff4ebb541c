"""Types of the public names of `scalograph`."""

from scalograph.analysis.estimate import Estimate
from scalograph.notebook.fitted_law import fit_usl
from scalograph.notebook.opened_results import compare_results as compare
from scalograph.notebook.opened_results import open_results as open  # noqa: A004  as people call it: scalograph.open
from scalograph.notebook.scaled_function import scales
from scalograph.notebook.scaling_assertion import assert_scales

__all__ = ["Estimate", "assert_scales", "compare", "fit_usl", "open", "scales"]
__version__: str
