package config

import "flag"

// Flag describes a flag for the reference.
type Flag struct{ Name, Default, Usage string }

// Flags lists the operator's own flags, without those of the logger.
func Flags() []Flag {
	var c Config
	set := flag.NewFlagSet("operator", flag.ContinueOnError)
	c.Bind(set)
	var out []Flag
	set.VisitAll(func(f *flag.Flag) { out = append(out, Flag{Name: f.Name, Default: f.DefValue, Usage: f.Usage}) })
	return out
}
