package main

import (
	"bytes"
	"encoding/json"
	stdlog "log"
	"log/slog"
	"strings"
	"testing"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// Everything that logs in this process writes JSON, with its text as the message.
func TestAllLogsAreOne(t *testing.T) {
	var out bytes.Buffer
	logAllTo(zap.New(zap.WriteTo(&out)))
	for name, log := range map[string]func(string){
		"the operator":          func(text string) { ctrl.Log.Info(text) },
		"client-go":             func(text string) { klog.Error(text) },
		"client-go, structured": func(text string) { klog.InfoS(text) },
		"net/http":              func(text string) { stdlog.Println(text) },
		"log/slog":              func(text string) { slog.Warn(text) },
	} {
		out.Reset()
		log("text of " + name)
		var line struct{ Msg string }
		if err := json.Unmarshal(out.Bytes(), &line); err != nil || strings.TrimSpace(line.Msg) != "text of "+name {
			t.Errorf("%s logs %q (%v)", name, out.String(), err)
		}
	}
}
