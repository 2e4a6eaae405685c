"""A download over aioquic.

`download.py server ADDRESS FOLDER CONTROL SECONDS TASK` and `download.py client` with the same: the client opens a
stream, sends a byte on it, and receives the server's data for SECONDS. FOLDER has certificate.pem and key.pem. TASK is
download, resumption, key-updates or datagrams: see the crate `download`. The client prints one line of JSON, also if
the connection breaks.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import (
    ConnectionTerminated,
    DatagramFrameReceived,
    StreamDataReceived,
)

NAME = "server"
ALPN = ["download"]
TASKS = ["download", "resumption", "key-updates", "datagrams"]
WINDOW = 64 << 20  # more than any link's queue holds
AHEAD = 16 << 20  # bytes that the server's stack is given in advance
DATAGRAM = 1100  # bytes; its packets have 1200
QUEUED = 100  # datagrams that wait at the server
KEY_PERIOD_S = 2.0  # as in `download`


class Server(QuicConnectionProtocol):
    """Sends as much as the connection takes."""

    datagrams = False
    stream = None
    given = 0

    def quic_event_received(self, event):
        if isinstance(event, StreamDataReceived) and self.stream is None:
            self.stream = event.stream_id

    def transmit(self):
        if self.stream is not None and self.datagrams:
            # The stack takes any number, and has no public count of those that wait.
            for _ in range(len(self._quic._datagrams_pending), QUEUED):
                self._quic.send_datagram_frame(bytes(DATAGRAM))
        elif self.stream is not None:
            # The stack has no public count of acknowledged bytes; `_buffer_start` has it.
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
        if isinstance(event, StreamDataReceived | DatagramFrameReceived):
            second = int(time.monotonic() - self.began)
            if self.bytes and second < len(self.bytes):
                self.bytes[second] += len(event.data)
        elif isinstance(event, ConnectionTerminated):
            Client.broke = f"{event.error_code} {event.reason_phrase}"


def datagram_frames(task):
    return 1 << 16 if task == "datagrams" else None


async def send(host, port, folder, control, task):
    configuration = QuicConfiguration(
        is_client=False,
        alpn_protocols=ALPN,
        congestion_control_algorithm=control,
        max_datagram_frame_size=datagram_frames(task),
    )
    configuration.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    Server.datagrams = task == "datagrams"
    tickets = {}
    await serve(
        host,
        port,
        configuration=configuration,
        create_protocol=Server,
        session_ticket_fetcher=lambda label: tickets.pop(label, None),
        session_ticket_handler=lambda ticket: tickets.update({ticket.ticket: ticket}),
    )
    await asyncio.Future()


async def receive(host, port, folder, seconds, task):
    configuration = QuicConfiguration(
        alpn_protocols=ALPN,
        server_name=NAME,
        max_data=WINDOW,
        max_stream_data=WINDOW,
        max_datagram_frame_size=datagram_frames(task),
    )
    configuration.load_verify_locations(folder / "certificate.pem")
    end = Client.began + seconds
    resumed = task == "resumption"
    try:
        if resumed:
            configuration.session_ticket = await first_ticket(host, port, configuration)
        async with connect(
            host,
            port,
            configuration=configuration,
            create_protocol=Client,
            wait_connected=not resumed,
        ) as client:
            client._quic.send_stream_data(0, b"?")
            client.transmit()
            if resumed:
                await client.wait_connected()
                if not client._quic.tls.early_data_accepted:
                    raise ConnectionError("the server refused 0-RTT")
            if task == "key-updates":
                while time.monotonic() + KEY_PERIOD_S < end:
                    await asyncio.sleep(KEY_PERIOD_S)
                    client.request_key_update()
            await asyncio.sleep(end - time.monotonic())
            report(Client.broke)
    except ConnectionError as error:
        report(Client.broke or str(error) or "no connection")


async def first_ticket(host, port, configuration):
    """The ticket of a connection that is then closed."""
    ticket = asyncio.get_running_loop().create_future()
    async with connect(
        host,
        port,
        configuration=configuration,
        session_ticket_handler=lambda t: ticket.done() or ticket.set_result(t),
    ):
        return await ticket


def report(broke):
    # Only once: errors after the end do not count.
    if Client.bytes is not None:
        print(json.dumps({"bytes": Client.bytes, "broke": broke}), flush=True)
    Client.bytes = None


def main():
    end, address, folder, control, seconds, task = sys.argv[1:]
    host, port = address.rsplit(":", 1)
    if task not in TASKS:
        sys.exit(f"{task}: expected one of {', '.join(TASKS)}")
    if end == "server":
        asyncio.run(send(host, int(port), Path(folder), control, task))
    else:
        Client.began = time.monotonic()
        Client.bytes = [0] * int(seconds)
        asyncio.run(receive(host, int(port), Path(folder), int(seconds), task))


main()
