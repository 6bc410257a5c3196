// Command ferretdb serves the wire protocol of MongoDB on a loopback port, with its data in a folder.
// Tests run it where they need a MongoDB; see internal/testkit/database.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	port := flag.Int("port", 27017, "port on 127.0.0.1")
	dir := flag.String("dir", "", "existing directory for the data")
	flag.Parse()
	if err := serve(*port, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "ferretdb:", err)
		os.Exit(1)
	}
}

func serve(port int, dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server, err := ferretdb.New(&ferretdb.Config{
		Listener: ferretdb.ListenerConfig{TCP: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))},
		// It logs every command that it refuses.
		Logger:    slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		Handler:   "sqlite",
		SQLiteURL: "file:" + dir + "/",
	})
	if err != nil {
		return err
	}
	return server.Run(ctx)
}
