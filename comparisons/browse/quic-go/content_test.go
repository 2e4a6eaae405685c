package main

import (
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

func get(pages, address string) *http.Response {
	recorder := httptest.NewRecorder()
	handler(pages).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "https://host"+address, nil))
	return recorder.Result()
}

func TestObjectsAreAsLongAsTheirAddressesSay(t *testing.T) {
	for kind := range kinds {
		answer := get("", "/"+kind+"/150000/1/2?keep")
		if answer.StatusCode != http.StatusOK || answer.ContentLength != 150_000 {
			t.Errorf("%s: %s, %d bytes", kind, answer.Status, answer.ContentLength)
		}
		if answer.Header.Get("Cache-Control") == "no-store" {
			t.Errorf("%s is not kept", kind)
		}
	}
}

func TestImagesAreWhatTheySay(t *testing.T) {
	_, err := png.Decode(get("", "/image/5000/1").Body)
	// Only the filling's checksum is wrong.
	if err != nil && err.Error() != "png: invalid format: invalid checksum" {
		t.Error(err)
	}
}

func TestPagesAreFilesOfTheFolder(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "7.html"), []byte("<p>seven"), 0o600); err != nil {
		t.Fatal(err)
	}
	for address, status := range map[string]int{
		"/page/7/1":           http.StatusOK,
		"/page/8/1":           http.StatusNotFound,
		"/page/7/-1":          http.StatusBadRequest,
		"/page/..%2f7/1":      http.StatusBadRequest,
		"/data/-5/1":          http.StatusBadRequest,
		"/data/99999999999/1": http.StatusBadRequest,
		"/film/5/1":           http.StatusNotFound,
	} {
		if answer := get(folder, address); answer.StatusCode != status {
			t.Errorf("%s: %s", address, answer.Status)
		}
	}
}
