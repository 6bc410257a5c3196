// Package accounts reads the operator's accounts at DNS services from a file, and follows the file while the operator runs.
package accounts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// lookEvery is how often the file is read. The kubelet updates mounted files once a minute.
const lookEvery = 15 * time.Second

// Options are what Accounts are made from.
type Options struct {
	// File has the accounts. Empty: there are none.
	File string
	// Open makes the client of an account, without a call.
	Open  func(Account) (port.DNS, error)
	Clock clock.WithTicker
	// OnChange is called after accounts have come, gone or changed. It must not block.
	OnChange func()
	// OnError is called when the file can't be read any more; the accounts then stay as they were.
	OnError func(error)
}

// Accounts are those of the file. It is safe for concurrent use.
type Accounts struct {
	options Options

	mu      sync.Mutex
	entries map[dns.Provider]Entry
	texts   map[dns.Provider]string
	fileErr error
}

// Entry is one account: its client, or why it has none.
type Entry struct {
	DNS port.DNS
	Err error
}

// New reads the file for the first time. An account that is not valid is an entry with an error; a file that is not is
// reported to OnError.
func New(o Options) *Accounts {
	if o.OnChange == nil {
		o.OnChange = func() {}
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	a := &Accounts{options: o, entries: map[dns.Provider]Entry{}, texts: map[dns.Provider]string{}}
	a.look()
	return a
}

// All returns the accounts as they are now. The map must not be changed.
func (a *Accounts) All() map[dns.Provider]Entry {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.entries
}

// Start follows the file until the context ends. It implements the manager's Runnable.
func (a *Accounts) Start(ctx context.Context) error {
	if a.options.File == "" {
		return nil
	}
	ticker := a.options.Clock.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
			if a.look() {
				a.options.OnChange()
			}
		}
	}
}

// NeedLeaderElection says that every replica knows the accounts.
func (a *Accounts) NeedLeaderElection() bool { return false }

// look reads the file, and reports whether that changed anything.
func (a *Accounts) look() (changed bool) {
	if a.options.File == "" {
		return false
	}
	found, err := read(a.options.File)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		if a.fileErr == nil || a.fileErr.Error() != err.Error() {
			a.options.OnError(err)
		}
		a.fileErr = err
		return false
	}
	a.fileErr = nil
	entries, texts := make(map[dns.Provider]Entry, len(found)), make(map[dns.Provider]string, len(found))
	for _, p := range found {
		key := p.account.key()
		before, known := a.entries[key]
		texts[key] = p.text
		if known && a.texts[key] == p.text && before.Err == nil && p.err == nil {
			// The client stays, with what it knows of the rate of calls.
			entries[key] = before
			continue
		}
		entries[key] = a.open(p)
	}
	same := maps.EqualFunc(entries, a.entries, func(x, y Entry) bool { return x.DNS == y.DNS && text(x.Err) == text(y.Err) })
	a.entries, a.texts = entries, texts
	return !same
}

func (a *Accounts) open(p parsed) Entry {
	if p.err != nil {
		return Entry{Err: p.err}
	}
	client, err := a.options.Open(p.account)
	if err != nil {
		return Entry{Err: err}
	}
	return Entry{DNS: client}
}

func read(file string) ([]parsed, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the file of DNS accounts does not exist: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the file of DNS accounts: %w", err)
	}
	return parse(text)
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
