package child

import (
	"io"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// hintFrames hand hints to a sink.
func hintFrames(sink port.HintSink) frames {
	return func(kind byte, body []byte) (bool, error) {
		switch kind {
		case frameReady:
			sink.Ready()
			return true, nil
		case frameHint:
			keys, err := decodeKeys(body)
			if err == nil {
				sink.Hint(keys...)
			}
			return false, err
		}
		return false, errMalformed
	}
}

// hintPipe is a sink of hints that writes frames. That the parent does not read them any more ends the child elsewhere.
type hintPipe struct{ out io.Writer }

// Ready implements port.HintSink.
func (p hintPipe) Ready() { _ = writeFrame(p.out, frameReady, nil) }

// Hint implements port.HintSink. Keys for which there is no room are not named.
func (p hintPipe) Hint(keys ...string) {
	for _, key := range keys {
		if len(key) > largestKey {
			keys = nil
			break
		}
	}
	if body, err := encoding.Marshal(keys); err == nil {
		_ = writeFrame(p.out, frameHint, body)
	}
}

func decodeKeys(body []byte) (keys []string, err error) {
	if decoding.Unmarshal(body, &keys) != nil || len(keys) > store.MostKeys {
		return nil, errMalformed
	}
	return keys, nil
}
