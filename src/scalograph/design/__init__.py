"""Stop 2, plan: a `Study` and a host's facts to runs in order, behind ask and tell."""

from scalograph.design.grid import GridPlanner
from scalograph.design.planner import Design, Planner, Run, Treatment
from scalograph.design.resolve import Refusal, design

__all__ = ["Design", "GridPlanner", "Planner", "Refusal", "Run", "Treatment", "design"]
