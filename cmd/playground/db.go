package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

const (
	// dbCommand changes the table of customers of a playground that is up: Go is all that one needs here,
	// and psql or mongosh may be missing.
	dbCommand = "db"
	// dbVariable leads it there.
	dbVariable = "PLAYGROUND_DATABASE"
	// dbTimeout is far more than a database on a loopback port needs.
	dbTimeout = 10 * time.Second
)

// runDB returns the exit status.
func runDB(args []string, address string, stdout, stderr io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintf(stderr, "playground: %s takes one quoted statement, such as: %s \"SELECT * FROM customers\"\n", dbCommand, dbCommand)
		return 2
	}
	if address == "" {
		fmt.Fprintf(stderr, "playground: $%s is empty: start the playground with make playground, and paste the export lines that it prints into this shell\n", dbVariable)
		return 2
	}
	answer, err := query(context.Background(), address, args[0])
	if err != nil {
		fmt.Fprintln(stderr, "playground:", err)
		return 1
	}
	fmt.Fprintln(stdout, strings.TrimRight(answer, "\n"))
	return 0
}

// query runs a statement of SQL, or a command of MongoDB as JSON, and returns what a terminal would show.
func query(ctx context.Context, address, statement string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, dbTimeout)
	defer cancel()
	to, err := url.Parse(address)
	if err != nil {
		return "", errors.New("connecting to the database: its address is not a URL")
	}
	switch to.Scheme {
	case "postgres":
		return queryPostgres(ctx, address, statement)
	case "mongodb":
		return queryMongoDB(ctx, to, statement)
	default:
		return "", fmt.Errorf("connecting to the database: its address starts with %q instead of postgres or mongodb", to.Scheme)
	}
}

func queryPostgres(ctx context.Context, address, statement string) (string, error) {
	c, err := pgx.Connect(ctx, address)
	if err != nil {
		return "", fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	defer c.Close(context.WithoutCancel(ctx))
	results, err := c.PgConn().Exec(ctx, statement).ReadAll()
	if err != nil {
		return "", fmt.Errorf("running the statement: %w", err)
	}
	var out strings.Builder
	for _, r := range results {
		if len(r.FieldDescriptions) == 0 {
			fmt.Fprintln(&out, r.CommandTag)
			continue
		}
		lines := make([]string, 1, len(r.Rows)+1)
		for i, f := range r.FieldDescriptions {
			lines[0] += strings.Repeat("\t", min(i, 1)) + strings.ToUpper(f.Name)
		}
		for _, row := range r.Rows {
			values := make([]string, len(row))
			for i, value := range row {
				values[i] = string(value)
			}
			lines = append(lines, strings.Join(values, "\t"))
		}
		out.WriteString(table(strings.Join(lines, "\n")))
	}
	return out.String(), nil
}

func queryMongoDB(ctx context.Context, to *url.URL, statement string) (string, error) {
	var command bson.D
	if err := bson.UnmarshalExtJSON([]byte(statement), false, &command); err != nil {
		return "", fmt.Errorf("reading the command: %w: use JSON, such as {\"find\": \"customers\"}", err)
	}
	c, err := mongo.Connect(options.Client().ApplyURI(to.String()))
	if err != nil {
		return "", fmt.Errorf("connecting to MongoDB: %w", err)
	}
	defer c.Disconnect(context.WithoutCancel(ctx)) //nolint:errcheck // the command is over
	var reply struct {
		N      *int `bson:"n"`
		Cursor *struct {
			FirstBatch []bson.Raw `bson:"firstBatch"`
		} `bson:"cursor"`
	}
	raw, err := c.Database(strings.Trim(to.Path, "/")).RunCommand(ctx, command).Raw()
	if err == nil {
		err = bson.Unmarshal(raw, &reply)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("running the command: %w", err)
	case reply.Cursor != nil:
		var out strings.Builder
		for _, document := range reply.Cursor.FirstBatch {
			fmt.Fprintln(&out, document)
		}
		return out.String(), nil
	case reply.N != nil:
		return fmt.Sprintf("n: %d", *reply.N), nil
	default:
		return raw.String(), nil
	}
}
