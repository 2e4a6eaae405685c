"""What the tests share."""

import os
import signal
import threading
import time

import pytest

import tidegate as tg

# A shell's background job ignores interrupts, and Python then raises none: tests of Ctrl-C would never end.
signal.signal(signal.SIGINT, signal.default_int_handler)

#: Whether the laboratory can run: it needs root and a TUN driver.
LABORATORY = os.geteuid() == 0 and os.path.exists("/dev/net/tun")

#: A scenario with line numbers to be told: its first line is empty.
TEXT = """
name = "small"
duration_s = 6
warmup_s = 1
seed = 3

[down]
rate = { constant_mbps = 20 }
delay_ms = 20
queue = { packets = 1000 }

[up]
rate = { constant_mbps = 5 }
delay_ms = 20

[[workload]]
name = "download"
does = { bulk = {} }

[[run]]
name = "linux"

[[run]]
name = "drwa"
law = "drwa"

[[run]]
name = "tide"
law = "tide"
"""


@pytest.fixture
def small() -> tg.Scenario:
    return tg.Scenario.loads(TEXT)


def interrupted(run) -> float:
    """Seconds from Ctrl-C to its end."""
    sent = []

    def interrupt():
        time.sleep(0.3)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run()
    ended = time.monotonic()
    thread.join()
    return ended - sent[0]
