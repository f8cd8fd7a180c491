package oracle

import "bytes"

// tailSize holds the record that ends a reply, with its message.
const tailSize = 256

// tail keeps the last bytes of a reply.
type tail struct {
	buf [tailSize]byte
	n   int
}

func (t *tail) reset() { t.n = 0 }

func (t *tail) add(p []byte) {
	if len(p) >= tailSize {
		t.n = copy(t.buf[:], p[len(p)-tailSize:])
		return
	}
	if over := t.n + len(p) - tailSize; over > 0 {
		copy(t.buf[:], t.buf[over:t.n])
		t.n -= over
	}
	t.n += copy(t.buf[t.n:], p)
}

func (t *tail) contains(text string) bool { return bytes.Contains(t.buf[:t.n], []byte(text)) }
