// A download over quic-go. `download-quic-go server ADDRESS FOLDER CONTROL SECONDS TASK` and `download-quic-go client`
// with the same: the client opens a stream, sends a byte on it, and receives the server's data for SECONDS. FOLDER has
// certificate.pem and key.pem. TASK is download, migration, resumption or datagrams: see the crate `download`. The client
// prints one line of JSON, also if the connection breaks.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/quic-go/quic-go"
)

const (
	name   = "server"
	alpn   = "download"
	window = 64 << 20 // more than any link's queue holds
	chunk  = 64 << 10
)

// What both ends are told.
type terms struct {
	address, folder, control string
	period                   time.Duration
	task                     string
}

func main() {
	if len(os.Args) != 7 {
		log.Fatal("expected `server|client ADDRESS FOLDER CONTROL SECONDS TASK`")
	}
	seconds, err := strconv.Atoi(os.Args[5])
	if err != nil {
		log.Fatal(err)
	}
	terms := terms{os.Args[2], os.Args[3], os.Args[4], time.Duration(seconds) * time.Second, os.Args[6]}
	switch terms.task {
	case "download", "migration", "resumption", "datagrams":
	default:
		log.Fatalf("%s: expected download, migration, resumption or datagrams", terms.task)
	}
	switch os.Args[1] {
	case "server":
		err = terms.serve()
	case "client":
		err = terms.fetch()
	default:
		err = fmt.Errorf("%s: expected server or client", os.Args[1])
	}
	if err != nil {
		log.Fatal(err)
	}
}

func (terms *terms) config() *quic.Config {
	return &quic.Config{
		InitialStreamReceiveWindow:     window,
		MaxStreamReceiveWindow:         window,
		InitialConnectionReceiveWindow: window,
		MaxConnectionReceiveWindow:     window,
		Allow0RTT:                      terms.task == "resumption",
		EnableDatagrams:                terms.task == "datagrams",
	}
}

func (terms *terms) serve() error {
	if terms.control != "reno" {
		return fmt.Errorf("quic-go has no %s", terms.control)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(terms.folder, "certificate.pem"), filepath.Join(terms.folder, "key.pem"))
	if err != nil {
		return err
	}
	security := &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{alpn}}
	// It accepts a connection before its handshake is complete, as 0-RTT needs.
	listener, err := quic.ListenAddrEarly(terms.address, security, terms.config())
	if err != nil {
		return err
	}
	// A client that resumes comes twice.
	for {
		connection, err := listener.Accept(context.Background())
		if err != nil {
			return err
		}
		go func() { log.Print(terms.send(connection)) }()
	}
}

// Sends as much as the connection takes.
func (terms *terms) send(connection *quic.Conn) error {
	stream, err := connection.AcceptStream(context.Background())
	data := make([]byte, chunk)
	if terms.task == "datagrams" {
		size := chunk
		for err == nil {
			err = connection.SendDatagram(data[:size])
			var large *quic.DatagramTooLargeError
			if errors.As(err, &large) {
				size, err = int(large.MaxDatagramPayloadSize), nil
			}
		}
	}
	for err == nil {
		_, err = stream.Write(data)
	}
	return err
}

func (terms *terms) fetch() error {
	certificate, err := os.ReadFile(filepath.Join(terms.folder, "certificate.pem"))
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(certificate) {
		return errors.New("no certificate")
	}
	security := &tls.Config{
		RootCAs: roots, ServerName: name, NextProtos: []string{alpn}, ClientSessionCache: tls.NewLRUClientSessionCache(1),
	}
	began := time.Now()
	end := began.Add(terms.period)
	bytes := make([]int, int(terms.period.Seconds()))
	broke := terms.receive(security, end, func(n int) {
		if second := int(time.Since(began).Seconds()); second < len(bytes) {
			bytes[second] += n
		}
	})
	report := map[string]any{"bytes": bytes, "broke": nil}
	if broke != nil && !time.Now().After(end) {
		report["broke"] = broke.Error()
	}
	return json.NewEncoder(os.Stdout).Encode(report)
}

// Receives until the end, or an error.
func (terms *terms) receive(security *tls.Config, end time.Time, count func(int)) error {
	ctx, cancel := context.WithDeadline(context.Background(), end)
	defer cancel()
	server, err := net.ResolveUDPAddr("udp", terms.address)
	if err != nil {
		return err
	}
	transport, err := anyPort()
	if err != nil {
		return err
	}
	dial := transport.Dial
	if terms.task == "resumption" {
		first, err := dial(ctx, server, security, terms.config())
		if err != nil {
			return err
		}
		stream, err := ask(ctx, first)
		if err != nil {
			return err
		}
		// The ticket comes before the data.
		if _, err := stream.Read(make([]byte, 1)); err != nil {
			return err
		}
		if err := first.CloseWithError(0, ""); err != nil {
			return err
		}
		dial = transport.DialEarly
	}
	connection, err := dial(ctx, server, security, terms.config())
	if err != nil {
		return err
	}
	stream, err := ask(ctx, connection)
	if err != nil {
		return err
	}
	switch terms.task {
	case "resumption":
		<-connection.HandshakeComplete()
		if !connection.ConnectionState().Used0RTT {
			return errors.New("the server refused 0-RTT")
		}
	case "migration":
		go func() {
			time.Sleep(time.Until(end) / 2)
			if err := migrate(ctx, connection); err != nil {
				connection.CloseWithError(1, err.Error())
			}
		}()
	case "datagrams":
		for {
			data, err := connection.ReceiveDatagram(ctx)
			count(len(data))
			if err != nil {
				return err
			}
		}
	}
	if err := stream.SetReadDeadline(end); err != nil {
		return err
	}
	data := make([]byte, 1<<20)
	for {
		n, err := stream.Read(data)
		count(n)
		if err != nil {
			return err
		}
	}
}

// Opens a stream and asks for data.
func ask(ctx context.Context, connection *quic.Conn) (*quic.Stream, error) {
	stream, err := connection.OpenStreamSync(ctx)
	if err != nil {
		return nil, err
	}
	_, err = stream.Write([]byte("?"))
	return stream, err
}

// A connection that is to move needs a transport of its own: those of quic.DialAddr have connection IDs without a length,
// so a packet on another port cannot be told to be theirs.
func anyPort() (*quic.Transport, error) {
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4zero})
	return &quic.Transport{Conn: socket}, err
}

// Moves the connection to another port.
func migrate(ctx context.Context, connection *quic.Conn) error {
	transport, err := anyPort()
	if err != nil {
		return err
	}
	path, err := connection.AddPath(transport)
	if err != nil {
		return err
	}
	if err := path.Probe(ctx); err != nil {
		return err
	}
	return path.Switch()
}
