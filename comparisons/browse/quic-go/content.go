package main

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"net/http"
	"path/filepath"
	"strconv"
	"time"
)

const longest = 1 << 30 // bytes of one answer

// Written repeatedly for a long answer.
var block = bytes.Repeat([]byte{'x'}, 64<<10)

// The server's objects:
//
//	/page/NAME/MS         the file of that name, after MS milliseconds: the site's time to make it
//	/KIND/BYTES/…         BYTES of a kind; different ends of the path are different objects
//	/KIND/BYTES/…?keep    the same, but a browser may cache it
func handler(pages string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /page/{name}/{ms}", func(w http.ResponseWriter, r *http.Request) {
		ms, ok := number(w, r, "ms", 10_000)
		if !ok {
			return
		}
		time.Sleep(time.Duration(ms) * time.Millisecond)
		w.Header().Set("Cache-Control", "no-store")
		http.ServeFile(w, r, filepath.Join(pages, filepath.Base(r.PathValue("name"))+".html"))
	})
	for name, kind := range kinds {
		mux.HandleFunc("GET /"+name+"/{bytes}/{rest...}", func(w http.ResponseWriter, r *http.Request) {
			if size, ok := number(w, r, "bytes", longest); ok {
				kind.answer(w, r, size)
			}
		})
	}
	return mux
}

// A number in the path, from 0; if it is not a number, answers with an error.
func number(w http.ResponseWriter, r *http.Request, name string, most int) (int, bool) {
	value, err := strconv.Atoi(r.PathValue(name))
	if err != nil || value < 0 || value > most {
		http.Error(w, "expected a number of "+name, http.StatusBadRequest)
		return 0, false
	}
	return value, true
}

// A kind of object: start and end, between which a browser accepts any amount of filling.
type kind struct {
	mime  string
	start func(filling int) []byte
	end   []byte
}

var kinds = map[string]kind{
	"style": {"text/css", text("/*"), []byte("*/")},
	// Pages define `ran`: some scripts load more objects.
	"script": {"text/javascript", text("ran(document.currentScript);/*"), []byte("*/")},
	"image":  {"image/png", picture, pictureEnd},
	"data":   {"application/octet-stream", text(""), nil},
}

func text(content string) func(int) []byte {
	return func(int) []byte { return []byte(content) }
}

func (k kind) answer(w http.ResponseWriter, r *http.Request, size int) {
	least := len(k.start(0)) + len(k.end)
	filling := max(size-least, 0)
	header := w.Header()
	header.Set("Content-Type", k.mime)
	header.Set("Content-Length", strconv.Itoa(least+filling))
	// Pages of other hosts load it, and have to see by which protocol it came.
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Timing-Allow-Origin", "*")
	header.Set("Cache-Control", "no-store")
	if r.URL.Query().Has("keep") {
		header.Set("Cache-Control", "max-age=86400, immutable")
	}
	_, err := w.Write(k.start(filling))
	for err == nil && filling > 0 {
		var written int
		written, err = w.Write(block[:min(filling, len(block))])
		filling -= written
	}
	// An error means that the browser has cancelled the request.
	if err == nil {
		_, _ = w.Write(k.end)
	}
}

// A picture of one grey pixel, and the head of a chunk of filling.
func picture(filling int) []byte {
	head := []byte{0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0}
	pixel := []byte{0x78, 0x01, 0x01, 0x02, 0x00, 0xfd, 0xff, 0x00, 0x80, 0x00, 0x82, 0x00, 0x81}
	start := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", head)...)
	start = append(start, chunk("IDAT", pixel)...)
	start = binary.BigEndian.AppendUint32(start, uint32(filling))
	return append(start, "fiLl"...)
}

// That chunk's checksum, which a browser does not check since it does not know the chunk, and the picture's end.
var pictureEnd = append([]byte{0, 0, 0, 0}, chunk("IEND", nil)...)

func chunk(name string, data []byte) []byte {
	whole := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	whole = append(append(whole, name...), data...)
	return binary.BigEndian.AppendUint32(whole, crc32.ChecksumIEEE(whole[4:]))
}
