// The workload of `tidegate bench sim`, for ns-3 (written against 3.37, Debian's libns3-dev): bulk flows of CUBIC
// through one drop-tail bottleneck, with SACK and timestamps, and socket buffers that do not limit.
//
//   server ── bottleneck: rate, half the round trip ──▶ client      (acknowledgements: the same link)
//
// One link, as in the simulator's scenario: a router in between would only add events. Prints one JSON object: the
// parameters, the number of data segments that reached the client, and the wall time of Simulator::Run.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <chrono>
#include <cstdio>

using namespace ns3;

namespace
{

constexpr uint32_t MSS = 1448;               // an Ethernet MTU less headers and timestamps
constexpr uint32_t SOCKET_BUFFER = 32 << 20; // bytes: more than any window here
constexpr uint16_t PORT = 9;

uint64_t g_dataSegments = 0;

/// Counts packets with payload that reach the client: those longer than an acknowledgement with all options.
void
Received(Ptr<const Packet> packet)
{
    constexpr uint32_t MOST_HEADERS = 20 + 60;
    if (packet->GetSize() > MOST_HEADERS)
    {
        ++g_dataSegments;
    }
}

void
SetDefaults()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpCubic::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(MSS));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(SOCKET_BUFFER));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(SOCKET_BUFFER));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(true));
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t flows = 1;
    double mbps = 20;
    double rttMs = 40;
    uint32_t buffer = 1000;
    double seconds = 120;
    CommandLine options(__FILE__);
    options.AddValue("flows", "connections", flows);
    options.AddValue("mbps", "rate of the bottleneck, Mbit/s", mbps);
    options.AddValue("rtt", "round trip without a queue, ms", rttMs);
    options.AddValue("buffer", "packets in front of the bottleneck", buffer);
    options.AddValue("seconds", "simulated time", seconds);
    options.Parse(argc, argv);
    SetDefaults();

    NodeContainer hosts(2);
    InternetStackHelper().Install(hosts);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(mbps * 1e6))));
    link.SetChannelAttribute("Delay", TimeValue(MilliSeconds(rttMs / 2)));
    link.SetQueue("ns3::DropTailQueue<Packet>",
                  "MaxSize",
                  QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, buffer)));
    const NetDeviceContainer devices = link.Install(hosts);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    const Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    // Assigning addresses installs FqCoDel; the bottleneck must have only its own queue.
    TrafficControlHelper().Uninstall(devices);

    const Ptr<Node> server = hosts.Get(0);
    const Ptr<Node> client = hosts.Get(1);
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
    sink.Install(client);
    devices.Get(1)->TraceConnectWithoutContext("MacRx", MakeCallback(&Received));
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), PORT));
    for (uint32_t flow = 0; flow < flows; ++flow)
    {
        bulk.Install(server);
    }

    Simulator::Stop(Seconds(seconds));
    const auto began = std::chrono::steady_clock::now();
    Simulator::Run();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
    std::printf("{\"simulated_s\": %g, \"segments\": %llu, \"wall_s\": %.6f}\n",
                seconds,
                static_cast<unsigned long long>(g_dataSegments),
                wall.count());
    Simulator::Destroy();
    return 0;
}
