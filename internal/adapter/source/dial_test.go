package source_test

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/mongodb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/mysql"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/postgres"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/redis"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// guarded are all adapters with that guard, and how one connects with them.
func guarded(g *store.Guard) map[string]struct {
	rows port.Rows
	form string
} {
	const limit = 10 * time.Second
	return map[string]struct {
		rows port.Rows
		form string
	}{
		"postgres": {postgres.New(store.Config{Timeout: limit, Guard: g}), "postgres://u:p@SERVER/d"},
		"mysql":    {mysql.New(store.Config{Timeout: limit, Guard: g}), "u:p@tcp(SERVER)/d"},
		"mongodb":  {mongodb.New(store.Config{Timeout: limit, Guard: g}), "mongodb://u:p@SERVER/?directConnection=true"},
		"redis":    {redis.New(store.Config{Timeout: limit, Guard: g}), "redis://u:p@SERVER/0"},
		"redis with TLS": {
			redis.New(store.Config{Timeout: limit, Guard: g}), "rediss://u:p@SERVER/0",
		},
	}
}

// listen counts the connections of a port of loopback. It hangs up at once.
func listen(t *testing.T) (port string, connections chan struct{}) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	connections = make(chan struct{}, 100)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			connections <- struct{}{}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port), connections
}

// A name that resolves to the operator's own machine is as good as its address. There is no connection at all to a
// refused address, and the message says what to do about it.
func TestNoAdapterConnectsToAnAddressThatIsRefused(t *testing.T) {
	port, connections := listen(t)
	for name, adapter := range guarded(store.NewGuard(t.Context(), nil, []string{"127.0.0.2"})) {
		for _, host := range []string{"127.0.0.1", "localhost"} {
			t.Run(name+" to "+host, func(t *testing.T) {
				err := adapter.rows.Read(t.Context(), query(strings.ReplaceAll(adapter.form, "SERVER", host+":"+port)), nil)
				if len(connections) > 0 {
					t.Fatal("it has connected")
				}
				for _, want := range []string{host + ":" + port, "1 is a loopback address", "--tenantsource-allow-dial"} {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("it says, without %q: %v", want, err)
					}
				}
			})
		}
		t.Run(name+" to the API server", func(t *testing.T) {
			err := adapter.rows.Read(t.Context(), query(strings.ReplaceAll(adapter.form, "SERVER", "127.0.0.2:"+port)), nil)
			if err == nil || !strings.Contains(err.Error(), "that of the Kubernetes API server") {
				t.Error(err)
			}
		})
	}
}

func TestWhatTheAdministratorAllowsIsConnectedTo(t *testing.T) {
	port, connections := listen(t)
	for name, adapter := range guarded(store.NewGuard(t.Context(), []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, []string{"127.0.0.1"})) {
		t.Run(name, func(t *testing.T) {
			_ = adapter.rows.Read(t.Context(), query(strings.ReplaceAll(adapter.form, "SERVER", "127.0.0.1:"+port)), nil)
			if len(connections) == 0 {
				t.Error("it has not connected")
			}
			for len(connections) > 0 {
				<-connections
			}
		})
	}
}

// A host that no grant names is not connected to, whatever it resolves to.
func TestOnlyGrantedHostsAreConnectedTo(t *testing.T) {
	t.Parallel()
	all := store.NewGuard(t.Context(), []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}, nil)
	for name, c := range map[string]struct {
		hosts   []string
		granted bool
	}{
		"by its name and port":     {[]string{"localhost:PORT"}, true},
		"by its name":              {[]string{"local*"}, true},
		"by another name":          {[]string{"127.0.0.1", "*.example.com"}, false},
		"by another port":          {[]string{"localhost:1"}, false},
		"none where none is named": {[]string{}, false},
		"all where none is needed": {nil, true},
	} {
		for adapter := range guarded(nil) {
			t.Run(adapter+" "+name, func(t *testing.T) {
				t.Parallel()
				port, connections := listen(t)
				hosts := slices.Clone(c.hosts)
				for i, host := range hosts {
					hosts[i] = strings.ReplaceAll(host, "PORT", port)
				}
				a := guarded(all.Only(hosts))[adapter]
				err := a.rows.Read(t.Context(), query(strings.ReplaceAll(a.form, "SERVER", "localhost:"+port)), nil)
				if connected := len(connections) > 0; connected != c.granted {
					t.Errorf("it has connected: %v, want %v", connected, c.granted)
				}
				const says = "the EdgeGrant of the namespace does not allow reading from localhost:"
				if err == nil || strings.Contains(err.Error(), says) == c.granted {
					t.Errorf("it says: %v", err)
				}
			})
		}
	}
}

func query(connection string) mapping.Query {
	return mapping.Query{
		Connection: mapping.NewSecret(connection), SQL: mapping.SQLQuery{Query: "SELECT 1 AS name"},
		MongoDB: mapping.MongoDBQuery{Database: "db", Collection: "customers"}, Redis: mapping.RedisQuery{KeyPattern: "customer:*"},
	}
}
