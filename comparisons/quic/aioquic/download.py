"""A download over aioquic.

`download.py server ADDRESS FOLDER CONTROL`, `download.py client ADDRESS FOLDER SECONDS`: the client opens a stream, says
a byte on it, and reads what the server sends for so many seconds. FOLDER has certificate.pem and key.pem; CONTROL is
the server's congestion control. The client prints one line of JSON, also if the connection breaks.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, StreamDataReceived

NAME = "server"
ALPN = ["download"]
WINDOW = 64 << 20  # more than any link's queue holds
AHEAD = 16 << 20  # bytes that the server's stack is given in advance


class Server(QuicConnectionProtocol):
    """Sends as much as the connection takes."""

    stream = None
    given = 0

    def quic_event_received(self, event):
        if isinstance(event, StreamDataReceived) and self.stream is None:
            self.stream = event.stream_id

    def transmit(self):
        # The stack has no public count of acknowledged bytes; `_buffer_start` has it.
        if self.stream is not None:
            acknowledged = self._quic._streams[self.stream].sender._buffer_start
            if self.given - acknowledged < AHEAD // 2:
                self._quic.send_stream_data(self.stream, bytes(AHEAD))
                self.given += AHEAD
        super().transmit()


class Client(QuicConnectionProtocol):
    """Counts received bytes in each second."""

    began = 0.0
    bytes = []
    broke = None

    def quic_event_received(self, event):
        if isinstance(event, StreamDataReceived):
            second = int(time.monotonic() - self.began)
            if self.bytes and second < len(self.bytes):
                self.bytes[second] += len(event.data)
        elif isinstance(event, ConnectionTerminated):
            Client.broke = f"{event.error_code} {event.reason_phrase}"


async def send(host, port, folder, control):
    configuration = QuicConfiguration(
        is_client=False, alpn_protocols=ALPN, congestion_control_algorithm=control
    )
    configuration.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    await serve(host, port, configuration=configuration, create_protocol=Server)
    await asyncio.Future()


async def receive(host, port, folder, seconds):
    configuration = QuicConfiguration(
        alpn_protocols=ALPN, server_name=NAME, max_data=WINDOW, max_stream_data=WINDOW
    )
    configuration.load_verify_locations(folder / "certificate.pem")
    end = Client.began + seconds
    try:
        async with connect(
            host, port, configuration=configuration, create_protocol=Client
        ) as client:
            client._quic.send_stream_data(0, b"?")
            client.transmit()
            await asyncio.sleep(end - time.monotonic())
            report(Client.broke)
    except ConnectionError as error:
        report(Client.broke or str(error) or "no connection")


def report(broke):
    # Only once: errors after the end do not count.
    if Client.bytes is not None:
        print(json.dumps({"bytes": Client.bytes, "broke": broke}), flush=True)
    Client.bytes = None


def main():
    end, address, folder, last = sys.argv[1:]
    host, port = address.rsplit(":", 1)
    if end == "server":
        asyncio.run(send(host, int(port), Path(folder), last))
    else:
        Client.began = time.monotonic()
        Client.bytes = [0] * int(last)
        asyncio.run(receive(host, int(port), Path(folder), int(last)))


main()
