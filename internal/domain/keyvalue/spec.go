package keyvalue

// Spec is what an object asks for.
type Spec struct {
	StoreARN string
	// Key is the one that gets the value. Empty: each domain is a key.
	Key, Value string
	Takeover   bool
}

// Wants are the keys of an object with those domains.
func (s *Spec) Wants(domains []string) (out []Want) {
	if s == nil {
		return nil
	}
	if s.Key != "" {
		domains = []string{s.Key}
	}
	for _, name := range domains {
		out = append(out, Want{Key: Key{StoreARN: s.StoreARN, Name: name}, Value: s.Value, Takeover: s.Takeover})
	}
	return out
}
