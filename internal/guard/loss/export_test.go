package loss

import (
	"context"
	"time"
)

// Judge looks at everything once.
func (b *Breaker) Judge(ctx context.Context) (time.Duration, error) { return b.judge(ctx) }
