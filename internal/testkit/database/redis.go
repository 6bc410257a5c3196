package database

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

const (
	keyPrefix = "customer:"
	// redisDatabases are as many tables as there can be: each has a database of its own, and the one next to it is
	// empty.
	redisDatabases = 2000
)

var (
	errNoSQL = errors.New("this engine has no SQL")
)

type redisServer struct {
	proxies
	address, password string
	admin             *redis.Client
}

func (s *redisServer) start(ctx context.Context, e *Engine) error {
	path, err := find("redis-server", "the package redis-server")
	if err != nil {
		return err
	}
	ports, err := e.processes.Ports(ctx, 1)
	if err != nil {
		return err
	}
	s.address, s.password = ports.Address(0), rand.Text()
	s.admin = s.connect(0)
	return e.run(ctx, func(ctx context.Context) error { return s.admin.Ping(ctx).Err() }, path,
		"--port", strconv.Itoa(ports[0]), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", e.dir,
		"--databases", strconv.Itoa(redisDatabases), "--requirepass", s.password, "--notify-keyspace-events", "Kg$hdx")
}

func (s *redisServer) ownerURL() string {
	return (&url.URL{Scheme: "redis", User: url.UserPassword("default", s.password), Host: s.address, Path: "0"}).String()
}

func (s *redisServer) connect(database int) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: s.address, Password: s.password, DB: database, PoolSize: 2})
}

func (s *redisServer) close() {
	s.proxies.close()
	if s.admin != nil {
		_ = s.admin.Close()
	}
}

func (s *redisServer) newTable(ctx context.Context, t *Table) (store, error) {
	number := int(2 * t.number)
	if number+1 >= redisDatabases {
		return nil, fmt.Errorf("there is room for %d tables", redisDatabases/2-1)
	}
	if err := s.open(ctx, t, s.address, nil); err != nil {
		return nil, err
	}
	r := &redisTable{t: t, server: s, database: number}
	return r, r.allow(ctx, true)
}

type redisTable struct {
	t        *Table
	server   *redisServer
	database int
	watched  atomic.Bool
}

func (r *redisTable) query() mapping.Query {
	connection := url.URL{Scheme: "redis", User: url.UserPassword(r.t.user, r.t.password), Host: r.t.address, Path: strconv.Itoa(r.database)}
	return mapping.Query{Connection: mapping.NewSecret(connection.String()), Redis: mapping.RedisQuery{KeyPattern: keyPrefix + "*"}}
}

// do runs commands in the table's database.
func (r *redisTable) do(commands func(*redis.Client) error) error {
	client := r.server.connect(r.database)
	return errors.Join(commands(client), client.Close())
}

func key(row map[string]any) string {
	if key, ok := row["_key"].(string); ok {
		return key
	}
	return keyPrefix + fmt.Sprint(row["name"])
}

func (r *redisTable) put(ctx context.Context, rows []map[string]any) error {
	return r.do(func(client *redis.Client) error {
		return chunks(rows, 5000, func(chunk []map[string]any) error {
			_, err := client.TxPipelined(ctx, func(p redis.Pipeliner) error {
				for _, row := range chunk {
					if err := r.putOne(ctx, p, row); err != nil {
						return err
					}
				}
				return nil
			})
			return err
		})
	})
}

func (r *redisTable) putOne(ctx context.Context, p redis.Pipeliner, row map[string]any) error {
	fields := map[string]any{}
	for column, value := range row {
		if column != "_key" && (value != nil || r.t.options.JSON) {
			fields[column] = value
		}
	}
	if r.t.options.JSON {
		document, err := json.Marshal(fields)
		p.Set(ctx, key(row), document, 0)
		return err
	}
	for column, value := range fields {
		fields[column] = fmt.Sprint(value)
	}
	p.Del(ctx, key(row))
	p.HSet(ctx, key(row), fields)
	return nil
}

func (r *redisTable) remove(ctx context.Context, names []string) error {
	return r.do(func(client *redis.Client) error {
		return chunks(names, 5000, func(chunk []string) error {
			keys := make([]string, len(chunk))
			for i, name := range chunk {
				keys[i] = keyPrefix + name
			}
			return client.Del(ctx, keys...).Err()
		})
	})
}

func (r *redisTable) truncate(ctx context.Context) error {
	return r.do(func(client *redis.Client) error { return client.FlushDB(ctx).Err() })
}

func (r *redisTable) drop(ctx context.Context) error { return r.truncate(ctx) }

func (r *redisTable) rename(ctx context.Context, from, to string) error {
	return r.do(func(client *redis.Client) error {
		script := `for _, key in ipairs(redis.call('KEYS', '*')) do
			local value = redis.call('HGET', key, ARGV[1])
			if value then redis.call('HSET', key, ARGV[2], value); redis.call('HDEL', key, ARGV[1]) end
		end`
		if r.t.options.JSON {
			script = `for _, key in ipairs(redis.call('KEYS', '*')) do
				local row = cjson.decode(redis.call('GET', key))
				row[ARGV[2]], row[ARGV[1]] = row[ARGV[1]], nil
				redis.call('SET', key, cjson.encode(row))
			end`
		}
		if err := client.Eval(ctx, script, nil, from, to).Err(); !errors.Is(err, redis.Nil) {
			return err
		}
		return nil
	})
}

// allow makes the user, or removes it, which ends its connections as well.
func (r *redisTable) allow(ctx context.Context, allowed bool) error {
	if !allowed {
		return r.server.admin.Do(ctx, "ACL", "DELUSER", r.t.user).Err()
	}
	// Without INFO and ROLE a replica can't be recognized.
	rules := []any{"ACL", "SETUSER", r.t.user, "reset", "on", ">" + r.t.password, "~" + keyPrefix + "*", "+@read", "+@connection", "+info", "+role"}
	if r.watched.Load() {
		rules = append(rules, "+psubscribe", "+config|get", fmt.Sprintf("&__keyspace@%d__:%s*", r.database, keyPrefix))
	}
	if r.t.options.Writable {
		rules = append(rules, "+@all")
	}
	return r.server.admin.Do(ctx, rules...).Err()
}

// show puts another database in the table's place, as after a failover to an empty replica.
func (r *redisTable) show(ctx context.Context, _ bool) error {
	return r.server.admin.Do(ctx, "SWAPDB", r.database, r.database+1).Err()
}

func (r *redisTable) exec(context.Context, string) error { return errNoSQL }

func (r *redisTable) watch(ctx context.Context) (mapping.Query, error) {
	r.watched.Store(true)
	q := r.query()
	q.Watch = &mapping.Watch{}
	return q, r.allow(ctx, true)
}
