package model_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The flags of a long run. It is played in parts, so that it can be interrupted: a part is a seed and its schedules.
var (
	schedules = flag.Int("model.schedules", 0, "how many schedules to play in all; 0 plays none but those of the short tests")
	skipped   = flag.Int("model.skip", 0, "how many parts an earlier run has played: what follows has other seeds")
	reportAt  = flag.String("model.report", "", "the file that keeps what was played; parts that it lists are not played again")
)

// partSize is how many schedules of each property a part has. It takes a minute or two.
const partSize = 250

// properties are what is played at random, by name.
var properties = map[string]func(*testing.T){"tenants": checkTenants, "names": checkNames, "losses": checkLosses}

// played counts what happened: the schedules that came to their end, and the operations in them, which are what users,
// other people, AWS and the process did. Operations that were drawn and could not happen do not count.
var played struct{ schedules, operations atomic.Int64 }

// counted counts the actions that happen.
func counted(actions map[string]func(*rapid.T)) map[string]func(*rapid.T) {
	out := map[string]func(*rapid.T){}
	for name, act := range actions {
		out[name] = act
		if name != "" { // which is a check, and no operation
			out[name] = func(t *rapid.T) { act(t); played.operations.Add(1) }
		}
	}
	return out
}

// part is what the report says of one.
type part struct {
	Seed       uint64 `json:"seed"`
	Schedules  int64  `json:"schedules"`
	Operations int64  `json:"operations"`
	Seconds    int64  `json:"seconds"`
}

// TestSchedules plays as many schedules as the flag asks for, and says how many operations were in them. A failure names
// its seed, which -rapid.seed repeats.
func TestSchedules(t *testing.T) {
	if *schedules == 0 {
		t.Skip("-model.schedules asks for none")
	}
	setFlag(t, "rapid.checks", strconv.Itoa(partSize))
	done := readParts(t)
	var all part
	for n := *skipped; all.Schedules < int64(*schedules); n++ {
		p, known := done[seedOf(n)]
		if !known {
			p = playPart(t, seedOf(n))
			if t.Failed() {
				return
			}
			keepPart(t, p)
		}
		all.Schedules, all.Operations, all.Seconds = all.Schedules+p.Schedules, all.Operations+p.Operations, all.Seconds+p.Seconds
		fmt.Fprintf(os.Stdout, "seed %d: %d of %d schedules, %d operations, %s\n",
			p.Seed, all.Schedules, *schedules, all.Operations, time.Duration(all.Seconds)*time.Second)
	}
}

// seedOf is the seed of a part. A part draws its schedules from the numbers that follow, of which no two parts share one.
func seedOf(part int) uint64 { return uint64(part+1) * 1_000_000_000 }

// playPart plays all properties at the same time.
func playPart(t *testing.T, seed uint64) part {
	t.Helper()
	setFlag(t, "rapid.seed", strconv.FormatUint(seed, 10))
	began, schedules, operations := time.Now(), played.schedules.Load(), played.operations.Load()
	t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
		for name, check := range properties {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				check(t)
			})
		}
	})
	return part{
		Seed: seed, Schedules: played.schedules.Load() - schedules, Operations: played.operations.Load() - operations,
		Seconds: int64(time.Since(began).Seconds()),
	}
}

func setFlag(t *testing.T, name, value string) {
	t.Helper()
	usual := flag.Lookup(name).Value.String()
	t.Cleanup(func() { _ = flag.Set(name, usual) })
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
}

// readParts reads the report, which has a part in each line.
func readParts(t *testing.T) map[uint64]part {
	t.Helper()
	done := map[uint64]part{}
	if *reportAt == "" {
		return done
	}
	file, err := os.Open(*reportAt)
	if errors.Is(err, fs.ErrNotExist) {
		return done
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := json.NewDecoder(file); lines.More(); {
		var p part
		if err := lines.Decode(&p); err != nil {
			t.Fatalf("reading %s: %v", *reportAt, err)
		}
		done[p.Seed] = p
	}
	return done
}

func keepPart(t *testing.T, p part) {
	t.Helper()
	if *reportAt == "" {
		return
	}
	line, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(*reportAt, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.Write(append(line, '\n'))
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}
