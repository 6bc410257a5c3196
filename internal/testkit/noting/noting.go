// Package noting lets a test see what a client writes.
package noting

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// Client calls note after each write of an object, or of a subresource if that is not empty. A write that failed may have
// taken effect, and counts. Server-side apply is not noted.
func Client(c client.WithWatch, note func(o client.Object, subresource string)) client.WithWatch {
	noted := func(o client.Object, subresource string, err error) error {
		note(o, subresource)
		return err
	}
	return interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return noted(o, "", c.Create(ctx, o, opts...))
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return noted(o, "", c.Update(ctx, o, opts...))
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return noted(o, "", c.Patch(ctx, o, p, opts...))
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return noted(o, "", c.Delete(ctx, o, opts...))
		},
		DeleteAllOf: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteAllOfOption) error {
			return noted(o, "", c.DeleteAllOf(ctx, o, opts...))
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return noted(o, sub, c.SubResource(sub).Patch(ctx, o, p, opts...))
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			return noted(o, sub, c.SubResource(sub).Update(ctx, o, opts...))
		},
	})
}
