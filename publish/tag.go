package publish

import "context"

type tagKey struct{}

// WithTag marks ctx with the tag of a run: a warehouse that can passes it on with every statement that it sends
// under ctx, so that an administrator sees there whose it is, and may kill it by that name.
func WithTag(ctx context.Context, tag string) context.Context {
	return context.WithValue(ctx, tagKey{}, tag)
}

// Tag is the tag that WithTag set, or "".
func Tag(ctx context.Context) string {
	tag, _ := ctx.Value(tagKey{}).(string)
	return tag
}
