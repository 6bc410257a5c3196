// Command externaldns is ExternalDNS with its TXT registry and its rfc2136 provider, for tests. It is put together here
// because the original program links the SDKs of all its providers, which takes far longer to build. All parts are the
// original ones, with their original flags and defaults.
//
// The first argument is a loopback address, the others are the flags of ExternalDNS. It has no interval: a POST to
// /round at that address carries out one round, and is answered when that is finished.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"

	log "github.com/sirupsen/logrus"

	"sigs.k8s.io/external-dns/endpoint"
	"sigs.k8s.io/external-dns/pkg/apis/externaldns"
	"sigs.k8s.io/external-dns/pkg/apis/externaldns/validation"
	"sigs.k8s.io/external-dns/plan"
	"sigs.k8s.io/external-dns/provider"
	"sigs.k8s.io/external-dns/provider/rfc2136"
	"sigs.k8s.io/external-dns/registry"
	"sigs.k8s.io/external-dns/source"
	"sigs.k8s.io/external-dns/source/annotations"
	"sigs.k8s.io/external-dns/source/wrappers"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "externaldns: the first argument has to be an address")
		os.Exit(1)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "externaldns:", err)
		os.Exit(1)
	}
}

func run(address string, flags []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cfg, err := configure(flags)
	if err != nil {
		return err
	}
	r, err := newRounds(ctx, cfg)
	if err != nil {
		return err
	}
	return serve(ctx, address, r)
}

func configure(flags []string) (*externaldns.Config, error) {
	cfg := externaldns.NewConfig()
	if err := cfg.ParseFlags(flags); err != nil {
		return nil, err
	}
	if err := validation.ValidateConfig(cfg); err != nil {
		return nil, err
	}
	if cfg.Provider != "rfc2136" || cfg.Registry != "txt" {
		return nil, errors.New("only the provider rfc2136 and the registry txt are built in")
	}
	level, err := log.ParseLevel(cfg.LogLevel)
	if err != nil {
		return nil, err
	}
	log.SetLevel(level)
	annotations.SetAnnotationPrefix(cfg.AnnotationPrefix)
	return cfg, nil
}

// serve carries out rounds, one at a time, until the context ends.
func serve(ctx context.Context, address string, r *rounds) error {
	var mu sync.Mutex
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /round", func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if err := r.once(ctx); err != nil {
			log.Errorf("round: %v", err)
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		log.Info("round finished")
	})
	server := &http.Server{Addr: address, Handler: mux}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// rounds has what a round needs.
type rounds struct {
	cfg      *externaldns.Config
	filter   *endpoint.DomainFilter
	source   source.Source
	registry registry.Registry
}

func newRounds(ctx context.Context, cfg *externaldns.Config) (*rounds, error) {
	clients := &source.SingletonClientGenerator{KubeConfig: cfg.KubeConfig, APIServerURL: cfg.APIServerURL, RequestTimeout: cfg.RequestTimeout}
	sources, err := source.ByNames(ctx, clients, cfg.Sources, source.NewSourceConfig(cfg))
	if err != nil {
		return nil, err
	}
	r := &rounds{cfg: cfg, filter: endpoint.NewDomainFilterWithExclusions(cfg.DomainFilter, cfg.ExcludeDomains)}
	r.source, err = wrappers.WrapSources(sources, wrappers.NewConfig(
		wrappers.WithDefaultTargets(cfg.DefaultTargets), wrappers.WithForceDefaultTargets(cfg.ForceDefaultTargets),
		wrappers.WithNAT64Networks(cfg.NAT64Networks), wrappers.WithTargetNetFilter(cfg.TargetNetFilter),
		wrappers.WithExcludeTargetNets(cfg.ExcludeTargetNets), wrappers.WithMinTTL(cfg.MinTTL)))
	if err != nil {
		return nil, err
	}
	servers, err := rfc2136.NewRfc2136Provider(cfg.RFC2136Host, cfg.RFC2136Port, cfg.RFC2136Zone, cfg.RFC2136Insecure,
		cfg.RFC2136TSIGKeyName, cfg.RFC2136TSIGSecret, cfg.RFC2136TSIGSecretAlg, cfg.RFC2136TAXFR, r.filter, cfg.DryRun,
		cfg.RFC2136MinTTL, cfg.RFC2136CreatePTR, cfg.RFC2136GSSTSIG, cfg.RFC2136KerberosUsername, cfg.RFC2136KerberosPassword,
		cfg.RFC2136KerberosRealm, cfg.RFC2136BatchChangeSize, rfc2136.TLSConfig{}, cfg.RFC2136LoadBalancingStrategy, nil)
	if err != nil {
		return nil, err
	}
	r.registry, err = registry.NewTXTRegistry(servers, cfg.TXTPrefix, cfg.TXTSuffix, cfg.TXTOwnerID, cfg.TXTCacheInterval,
		cfg.TXTWildcardReplacement, cfg.ManagedDNSRecordTypes, cfg.ExcludeDNSRecordTypes, cfg.TXTEncryptEnabled,
		[]byte(cfg.TXTEncryptAESKey), cfg.TXTOwnerOld)
	return r, err
}

// once carries out a round in the order of ExternalDNS: records first, then objects.
func (r *rounds) once(ctx context.Context) error {
	records, err := r.registry.Records(ctx)
	if err != nil {
		return fmt.Errorf("reading records: %w", err)
	}
	ctx = context.WithValue(ctx, provider.RecordsContextKey, records)
	wanted, err := r.source.Endpoints(ctx)
	if err != nil {
		return fmt.Errorf("reading objects: %w", err)
	}
	if wanted, err = r.registry.AdjustEndpoints(wanted); err != nil {
		return fmt.Errorf("adjusting endpoints: %w", err)
	}
	calculated := (&plan.Plan{
		Policies: []plan.Policy{plan.Policies[r.cfg.Policy]}, Current: records, Desired: wanted,
		DomainFilter:   endpoint.MatchAllDomainFilters{r.filter, r.registry.GetDomainFilter()},
		ManagedRecords: r.cfg.ManagedDNSRecordTypes, ExcludeRecords: r.cfg.ExcludeDNSRecordTypes,
		OwnerID: r.registry.OwnerID(), OldOwnerId: r.cfg.TXTOwnerOld,
	}).Calculate()
	if !calculated.Changes.HasChanges() {
		return nil
	}
	if err := r.registry.ApplyChanges(ctx, calculated.Changes); err != nil {
		return fmt.Errorf("changing records: %w", err)
	}
	return nil
}
