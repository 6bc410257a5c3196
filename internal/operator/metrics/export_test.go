package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// RegisterOnly registers those of the gauges that are computed together with one of these names.
func (g *Gauges) RegisterOnly(r prometheus.Registerer, names ...string) error {
	in := &registrar{Registerer: r}
	for _, s := range g.table() {
		if slices.ContainsFunc(names, func(name string) bool { return s.descs[name] != nil }) {
			in.add(s)
		}
	}
	return in.err
}
