// A download over quic-go. `download-quic-go server ADDRESS FOLDER CONTROL`, `download-quic-go client ADDRESS FOLDER
// SECONDS`: the client opens a stream, sends a byte on it, and reads the server's data for SECONDS. FOLDER has
// certificate.pem and key.pem. The client prints one line of JSON, also if the connection breaks.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log"
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

func main() {
	if len(os.Args) != 5 {
		log.Fatal("expected `server ADDRESS FOLDER CONTROL` or `client ADDRESS FOLDER SECONDS`")
	}
	address, folder, last := os.Args[2], os.Args[3], os.Args[4]
	var err error
	switch os.Args[1] {
	case "server":
		err = serve(address, folder, last)
	case "client":
		err = fetch(address, folder, last)
	default:
		err = fmt.Errorf("%s: expected server or client", os.Args[1])
	}
	if err != nil {
		log.Fatal(err)
	}
}

func serve(address, folder, control string) error {
	if control != "reno" {
		return fmt.Errorf("quic-go has no %s", control)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(folder, "certificate.pem"), filepath.Join(folder, "key.pem"))
	if err != nil {
		return err
	}
	listener, err := quic.ListenAddr(address, &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{alpn}}, nil)
	if err != nil {
		return err
	}
	connection, err := listener.Accept(context.Background())
	if err != nil {
		return err
	}
	stream, err := connection.AcceptStream(context.Background())
	// Sends as much as the connection takes.
	for data := make([]byte, chunk); err == nil; {
		_, err = stream.Write(data)
	}
	return err
}

func fetch(address, folder, last string) error {
	seconds, err := strconv.Atoi(last)
	if err != nil {
		return err
	}
	certificate, err := os.ReadFile(filepath.Join(folder, "certificate.pem"))
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(certificate) {
		return errors.New("no certificate")
	}
	began := time.Now()
	bytes := make([]int, seconds)
	broke := receive(address, roots, began.Add(time.Duration(seconds)*time.Second), func(n int) {
		if second := int(time.Since(began).Seconds()); second < seconds {
			bytes[second] += n
		}
	})
	report := map[string]any{"bytes": bytes, "broke": nil}
	if broke != nil && !time.Now().After(began.Add(time.Duration(seconds)*time.Second)) {
		report["broke"] = broke.Error()
	}
	return json.NewEncoder(os.Stdout).Encode(report)
}

// Receives until the end, or an error.
func receive(address string, roots *x509.CertPool, end time.Time, count func(int)) error {
	ctx, cancel := context.WithDeadline(context.Background(), end)
	defer cancel()
	config := &quic.Config{
		InitialStreamReceiveWindow:     window,
		MaxStreamReceiveWindow:         window,
		InitialConnectionReceiveWindow: window,
		MaxConnectionReceiveWindow:     window,
	}
	connection, err := quic.DialAddr(ctx, address, &tls.Config{RootCAs: roots, ServerName: name, NextProtos: []string{alpn}}, config)
	if err != nil {
		return err
	}
	stream, err := connection.OpenStreamSync(ctx)
	if err != nil {
		return err
	}
	if _, err := stream.Write([]byte("?")); err != nil {
		return err
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
