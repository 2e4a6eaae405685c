// The server that is browsed, over HTTP/3 by quic-go. `browse-quic-go FOLDER` listens on UDP port 443 of all addresses
// of the host.
//
// FOLDER has `hosts`, one name per line, and `pages`, the HTML of pages. It gets `trust` as soon as the server listens:
// the argument for a browser's `--ignore-certificate-errors-spki-list`, since the certificates are self-made.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"log"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/quic-go/quic-go/http3"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("expected FOLDER")
	}
	log.Fatal(serve(os.Args[1]))
}

func serve(folder string) error {
	names, err := os.ReadFile(filepath.Join(folder, "hosts"))
	if err != nil {
		return err
	}
	certificates, trust, err := certify(strings.Fields(string(names)))
	if err != nil {
		return err
	}
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{Port: 443})
	if err != nil {
		return err
	}
	server := http3.Server{
		Handler: handler(filepath.Join(folder, "pages")),
		TLSConfig: http3.ConfigureTLSConfig(&tls.Config{
			GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
				certificate, found := certificates[hello.ServerName]
				if !found {
					return nil, fmt.Errorf("there is no host %q", hello.ServerName)
				}
				return certificate, nil
			},
		}),
	}
	if err := publish(filepath.Join(folder, "trust"), trust); err != nil {
		return err
	}
	return server.Serve(socket)
}

// A certificate for each name, so that a browser does not use one host's connection for another, all with one key; and
// the hash of that key.
func certify(names []string) (map[string]*tls.Certificate, string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, "", err
	}
	certificates := make(map[string]*tls.Certificate)
	for number, name := range names {
		template := x509.Certificate{
			SerialNumber: big.NewInt(int64(number) + 1),
			Subject:      pkix.Name{CommonName: name},
			DNSNames:     []string{name},
			NotBefore:    time.Now().Add(-time.Hour),
			// Browsers refuse certificates that are valid for longer than two weeks, or a year.
			NotAfter:    time.Now().Add(10 * 24 * time.Hour),
			KeyUsage:    x509.KeyUsageDigitalSignature,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		}
		raw, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
		if err != nil {
			return nil, "", err
		}
		certificates[name] = &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, "", err
	}
	hash := sha256.Sum256(public)
	return certificates, base64.StdEncoding.EncodeToString(hash[:]), nil
}

// Publishes the file atomically: a process that waits for it never sees half of it.
func publish(path, text string) error {
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
