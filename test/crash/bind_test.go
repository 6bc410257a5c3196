package crash_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/nameserver"
)

const (
	changeAtBIND = "UpdateZone"

	bindZone = "example.com"
)

func bindProvider() *provider {
	return &provider{
		name: v1alpha1.DNSProviderRFC2136, prefix: "rfc", title: "BIND",
		changes: []string{changeAtBIND}, reads: []string{"GetSerial"}, listing: "GetTransfer",
		start: newBind, listen: (*replica).listenDNS, understand: understandDNS, short: 3,
	}
}

// bindService is a BIND and a secondary, which has a change later.
type bindService struct {
	stage              *stage
	primary, secondary *nameserver.Server

	mu sync.Mutex
	// holding is true while the secondary is kept from what is new, and closed in the end.
	holding, closed bool
}

func newBind(s *stage) (service, error) {
	primary, err := nameserver.Start(s.ctx, nameserver.Options{Zones: []nameserver.Zone{{Name: bindZone, Records: []string{
		"@ IN MX 10 mail", `@ IN TXT "v=spf1 -all"`, "mail IN A 192.0.2.25", "theirs IN CNAME elsewhere.example.net.",
		`_cf-challenge.theirs IN TXT "` + endpoint + `"`,
	}}}})
	if err != nil {
		return nil, err
	}
	b := &bindService{stage: s, primary: primary}
	if b.secondary, err = primary.StartSecondary(s.ctx); err != nil {
		_ = primary.Close() // the first error counts
		return nil, err
	}
	return b, nil
}

func (b *bindService) zone() string   { return bindZone }
func (b *bindService) server() string { return b.secondary.Address() }

func (b *bindService) close() error {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	return b.primary.Close()
}

func (b *bindService) account(address string) (entry map[string]any, secret map[string]string) {
	key := b.primary.Key()
	return map[string]any{"rfc2136": map[string]any{
		"server": address, "secondaries": []string{b.secondary.Address()}, "zones": []string{bindZone},
		"tsig": map[string]any{"name": key.Name, "algorithm": key.Algorithm},
	}}, map[string]string{"tsigSecret": key.Secret}
}

func (b *bindService) records() (out []placed) {
	lines, err := b.primary.Records(b.stage.ctx, bindZone)
	if err != nil && b.stage.ctx.Err() == nil {
		b.stage.violate("harness", "%v", err)
	}
	for _, line := range lines {
		fields := strings.SplitN(line, " ", 4)
		ttl, err := strconv.ParseInt(fields[1], 10, 64)
		b.stage.must("reading "+line, err)
		out = append(out, placed{name: fields[0], kind: fields[2], value: strings.TrimSuffix(fields[3], "."), ttl: ttl})
	}
	return out
}

// ownerLabel is where the note on a name's record is, and no record of the ledger.
const ownerLabel = "_cloudfront-tenant-operator-owner."

func (b *bindService) wants(domain string, o *tenantObject) []placed {
	return []placed{
		{name: domain, kind: "CNAME", value: endpoint, ttl: usualTTL},
		{name: ownerLabel + domain, kind: "TXT", value: `"` + ownerNote(o) + `"`, ttl: usualTTL},
	}
}

// batch reads an update. It deletes a whole set, and its prerequisites say which.
func (b *bindService) batch(c call, now []placed) (out sentBatch) {
	m := new(dns.Msg)
	if err := m.Unpack(c.body); err != nil {
		return sentBatch{Changes: []sentChange{{Action: err.Error()}}}
	}
	for _, rr := range m.Ns {
		h := rr.Header()
		r := placed{name: strings.TrimSuffix(h.Name, "."), kind: dns.TypeToString[h.Rrtype], ttl: int64(h.Ttl)}
		switch {
		case strings.HasPrefix(r.name, ownerLabel):
		case h.Class == dns.ClassINET:
			r.value = strings.TrimSuffix(strings.TrimPrefix(rr.String(), h.String()), ".")
			out.Changes = append(out.Changes, r.change("CREATE"))
		case !slices.ContainsFunc(m.Answer, func(p dns.RR) bool { return requiresOf(p, r) }):
			out.Changes = append(out.Changes, r.change("DELETE without a prerequisite"))
		default:
			for _, there := range now {
				if there.name == r.name && there.kind == r.kind && requires(m, there) {
					out.Changes = append(out.Changes, there.change("DELETE"))
				}
			}
		}
	}
	return out
}

// requires reports whether an update is carried out only where a record is there.
func requires(m *dns.Msg, r placed) bool {
	return slices.ContainsFunc(m.Answer, func(rr dns.RR) bool {
		return requiresOf(rr, r) && strings.TrimSuffix(strings.TrimPrefix(rr.String(), rr.Header().String()), ".") == r.value
	})
}

// requiresOf reports whether a prerequisite wants a value of the set that a record is of.
func requiresOf(prerequisite dns.RR, r placed) bool {
	h := prerequisite.Header()
	return h.Class == dns.ClassINET && strings.TrimSuffix(h.Name, ".") == r.name && dns.TypeToString[h.Rrtype] == r.kind
}

// readUpdate is what the journal has of an update.
func readUpdate(body []byte) string {
	m := new(dns.Msg)
	if err := m.Unpack(body); err != nil {
		return err.Error()
	}
	var lines []string
	for _, rr := range m.Ns {
		lines = append(lines, strings.Join(strings.Fields(rr.String()), " "))
	}
	return strings.Join(lines, ", ")
}

// lag keeps the secondary from what is new.
func (b *bindService) lag(d time.Duration) {
	b.mu.Lock()
	b.holding = d > 0
	b.mu.Unlock()
	if d == 0 {
		b.refresh()
	}
}

// refresh has the secondary copy the zone.
func (b *bindService) refresh() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.holding || b.closed {
		return
	}
	if err := b.secondary.Refresh(b.stage.ctx, bindZone); err != nil && b.stage.ctx.Err() == nil {
		b.stage.violate("harness", "%v", err)
	}
}

// ServeHTTP implements http.Handler: it passes a message on, and the answers back.
func (b *bindService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	message, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	answer, code, err := b.ask(r.Context(), message)
	if err != nil {
		if b.stage.ctx.Err() == nil {
			b.stage.violate("harness", "asking BIND: %v", err)
		}
		panic(http.ErrAbortHandler)
	}
	if code == dns.RcodeSuccess && r.Method != http.MethodGet {
		b.stage.later(syncDelay, b.refresh)
	}
	status := http.StatusOK
	if code != dns.RcodeSuccess {
		status = http.StatusUnprocessableEntity
	}
	w.WriteHeader(status)
	_, _ = w.Write(answer) // a client that went away is no concern of ours
}

// ask sends a message and returns all that comes back, in frames.
func (b *bindService) ask(ctx context.Context, message []byte) (answer []byte, code int, err error) {
	conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", b.primary.Address())
	if err != nil {
		return nil, 0, err
	}
	defer conn.Close()
	if _, err := conn.Write(frame(message)); err != nil {
		return nil, 0, err
	}
	transfer, ends := isTransfer(message), 0
	for ends < 2 {
		part, err := readFrame(conn)
		if err != nil {
			return nil, 0, err
		}
		answer = append(answer, frame(part)...)
		m := new(dns.Msg)
		if err := m.Unpack(part); err != nil {
			return nil, 0, err
		}
		if !transfer || m.Rcode != dns.RcodeSuccess {
			return answer, m.Rcode, nil
		}
		for _, rr := range m.Answer {
			if rr.Header().Rrtype == dns.TypeSOA {
				ends++ // A transfer begins and ends with it.
			}
		}
	}
	return answer, dns.RcodeSuccess, nil
}

func isTransfer(message []byte) bool {
	m := new(dns.Msg)
	return m.Unpack(message) == nil && len(m.Question) == 1 && m.Question[0].Qtype == dns.TypeAXFR
}

// understandDNS names an operation by what listenDNS has made of a message.
func understandDNS(c *call, r *http.Request) {
	c.counted, c.operation = true, map[string]string{"AXFR": "GetTransfer", "SOA": "GetSerial", "UPDATE": changeAtBIND}[r.URL.Host]
	if c.operation == "" {
		c.operation = "Get " + r.URL.Host
	}
	c.writes = r.Method != http.MethodGet
}

// refuse answers without a signature, as a server that has not come to it does.
func (b *bindService) refuse(x *exchange, _ int, code string) {
	m := new(dns.Msg)
	if err := m.Unpack(x.body); err != nil {
		reset(x.w)
		return
	}
	rcode := dns.RcodeServerFailure
	if code == "AccessDenied" {
		rcode = dns.RcodeRefused
	}
	packed, err := new(dns.Msg).SetRcode(m, rcode).Pack()
	if err != nil {
		panic(fmt.Sprintf("packing a refusal: %v", err))
	}
	_, _ = x.w.Write(frame(packed)) // a client that went away is no concern of ours
}
