"""TCP over access links in virtual time: a minute of LTE takes some hundredths of a second.

>>> import tidegate as tg
>>> s = tg.Scenario.load("lte-download.toml")
>>> r = s.run(law="tide", series=["queue_delay_ms"], bin_ms=10)
>>> r.flows["goodput_bps"]
"""

from ._errors import Fault, ScenarioError
from ._estimate import Estimate, mean, ratio
from ._native import BEHAVIOUR_VERSION, ReceiverView, SenderView, __version__
from ._own import Law, Sender
from ._result import Result
from ._scenario import Scenario, shipped
from ._session import FlowView, LinkView, Session
from ._sweep import Sweep, sweep
from ._table import Table
from ._traces import Recording, delay_trace, rate_series, trace

__all__ = [
    "BEHAVIOUR_VERSION",
    "Estimate",
    "Fault",
    "FlowView",
    "Law",
    "LinkView",
    "ReceiverView",
    "Recording",
    "Result",
    "Scenario",
    "ScenarioError",
    "Sender",
    "SenderView",
    "Session",
    "Sweep",
    "Table",
    "__version__",
    "delay_trace",
    "mean",
    "rate_series",
    "ratio",
    "shipped",
    "sweep",
    "trace",
]
