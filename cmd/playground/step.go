package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// step is a part of a chapter: something is said, typed or waited for.
type step func(context.Context) error

// do takes one step after the other, until one fails.
func do(ctx context.Context, steps ...step) error {
	for _, one := range steps {
		if err := one(ctx); err != nil {
			return err
		}
	}
	return nil
}

// tell says some sentences.
func (k *kube) tell(format string, args ...any) step {
	return func(context.Context) error {
		k.w.say.paragraph(format, args...)
		return nil
	}
}

// show shows a command, and what it prints when it is run.
func (k *kube) show(command string, run func(context.Context) (string, error)) step {
	return func(ctx context.Context) error {
		k.w.say.command(command)
		out, err := run(ctx)
		k.w.say.output(out)
		return err
	}
}

// kubectl runs kubectl where people see it, as they would type it.
func (k *kube) kubectl(args ...string) step {
	return k.show(typed(args), func(ctx context.Context) (string, error) { return k.ctl(ctx, "", args...) })
}

// apply shows a manifest and what the API server says to it.
func (k *kube) apply(manifest string) step {
	return k.show("kubectl apply -f - <<EOF\n"+manifest+"EOF", func(ctx context.Context) (string, error) { return k.ctl(ctx, manifest, "apply", "-f", "-") })
}

// lines runs kubectl, and shows only how many lines it printed.
func (k *kube) lines(args ...string) step {
	return k.show(typed(args)+" | wc -l", func(ctx context.Context) (string, error) {
		out, err := k.ctl(ctx, "", args...)
		if err != nil {
			return out, err
		}
		return strconv.Itoa(strings.Count(out, "\n")), nil
	})
}

// nothing shows that there are no such objects.
func (k *kube) nothing(args ...string) step {
	args = append([]string{"get"}, args...)
	return k.show(typed(args), func(ctx context.Context) (string, error) {
		out, err := k.ctl(ctx, "", args...)
		if err == nil && !strings.HasPrefix(out, "No resources found") {
			err = errors.New("something is left")
		}
		return out, err
	})
}

// refused wants that a step fails.
func refused(one step, mistake string) step {
	return func(ctx context.Context) error {
		if one(ctx) == nil {
			return errors.New(mistake)
		}
		return context.Cause(ctx)
	}
}

// db shows a statement and what the database says to it.
func (k *kube) db(statement string) step {
	return k.show(fmt.Sprintf("go run ./cmd/playground %s %s", dbCommand, quote(statement)), func(ctx context.Context) (string, error) {
		return query(ctx, k.w.customers.owner, statement)
	})
}

// lookup shows what public DNS answers.
func (k *kube) lookup(question ...string) step {
	return k.show("go run ./cmd/playground lookup "+strings.Join(question, " "), func(ctx context.Context) (string, error) {
		return lookup(ctx, k.w.nameServers(), question...)
	})
}

// await asks again and again until the answer is yes. Where it does not come, explain tells all that is known.
func (k *kube) await(what string, ask wait.ConditionWithContextFunc, explain func(context.Context)) step {
	return func(ctx context.Context) error {
		err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, ask)
		if !wait.Interrupted(err) || ctx.Err() != nil {
			return err
		}
		return k.timedOut(ctx, what, explain)
	}
}
