package stagetest

import (
	"errors"
	"strings"

	"github.com/loadctl/loadctl/stage"
)

func (c *conformance) nothingThere() {
	_, errOpen := c.s.Open(c.ctx, "none")
	_, errStat := c.s.Stat(c.ctx, "none/below")
	_, errList := c.s.List(c.ctx, "none")
	c.want(errOpen, stage.ErrNotExist, "open")
	c.want(errStat, stage.ErrNotExist, "stat")
	c.want(errList, stage.ErrNotExist, "list")
	c.want(c.s.Rename(c.ctx, "none", "some"), stage.ErrNotExist, "rename")
	c.absent("some")
	if err := c.s.Remove(c.ctx, "none"); err != nil {
		c.Errorf("remove: %v", err)
	}
}

func (c *conformance) directories() {
	for range 2 {
		if err := c.s.MkdirAll(c.ctx, "a/b"); err != nil {
			c.Fatal(err)
		}
	}
	info, err := c.s.Stat(c.ctx, "a/b")
	if err != nil || !info.Dir || info.Size != 0 || info.Path != "a/b" {
		c.Errorf("Stat(a/b) = %+v, %v; want a directory of size 0", info, err)
	}
	if f, err := c.s.Open(c.ctx, "a/b"); err == nil {
		c.Errorf("a directory is opened as a file: %v", f.Close())
	}
	c.put("a/f", []byte("x"))
	if err := c.s.MkdirAll(c.ctx, "a/f"); err == nil {
		c.Error("a directory is made where a file is")
	}
	if _, err := c.s.List(c.ctx, "a/f"); err == nil {
		c.Error("a file is listed as a directory")
	}
}

func (c *conformance) list() {
	for _, name := range []string{"d/b", "d/a", "d/c/below", "d/.hidden", "d/_hidden"} {
		c.put(name, []byte(name))
	}
	if got, want := c.listing("d"), "d/.hidden d/_hidden d/a d/b d/c"; got != want {
		c.Errorf("List(d) = %s, want %s", got, want)
	}
	if got, want := c.listing("."), "d"; got != want {
		c.Errorf("List(.) = %s, want %s", got, want)
	}
	infos, err := c.s.List(c.ctx, "d")
	if err != nil {
		c.Fatal(err)
	}
	for _, info := range infos {
		stat, err := c.s.Stat(c.ctx, info.Path)
		if err != nil || stat != info {
			c.Errorf("List says %+v, Stat says %+v, %v", info, stat, err)
		}
	}
	if err := c.s.MkdirAll(c.ctx, "empty"); err != nil {
		c.Fatal(err)
	}
	if got := c.listing("empty"); got != "" {
		c.Errorf("List(empty) = %s", got)
	}
}

func (c *conformance) renameFiles() {
	c.put("from/f", []byte("x"))
	before, err := c.s.Stat(c.ctx, "from/f")
	if err != nil {
		c.Fatal(err)
	}
	if err := c.s.Rename(c.ctx, "from/f", "to/below/g"); err != nil {
		c.Fatal(err)
	}
	c.absent("from/f")
	after, err := c.s.Stat(c.ctx, "to/below/g")
	if err != nil || after.ID != before.ID || after.Size != before.Size {
		c.Errorf("renamed, %+v became %+v, %v; want the same file", before, after, err)
	}
}

func (c *conformance) renameDirectories() {
	c.put("from/a/f", []byte("x"))
	if err := c.s.Rename(c.ctx, "from/a", "to/b"); err != nil {
		c.Fatal(err)
	}
	c.absent("from/a")
	if got := c.get("to/b/f"); string(got) != "x" {
		c.Errorf("moved file holds %q, want x", got)
	}
}

func (c *conformance) renameNeverOverwrites() {
	c.put("f", []byte("f"))
	c.put("g", []byte("g"))
	c.put("full/x", []byte("x"))
	if err := c.s.MkdirAll(c.ctx, "empty"); err != nil {
		c.Fatal(err)
	}
	for _, r := range [][2]string{{"f", "g"}, {"f", "empty"}, {"f", "full"}, {"full", "empty"}, {"full", "f"}, {"empty", "full"}} {
		c.want(c.s.Rename(c.ctx, r[0], r[1]), stage.ErrExist, "rename "+r[0]+" to "+r[1])
	}
	if got, want := c.listing("."), "empty f full g"; got != want {
		c.Errorf("after that there are %s, want %s", got, want)
	}
	if got := string(c.get("f")) + string(c.get("g")) + string(c.get("full/x")); got != "fgx" {
		c.Errorf("after that files hold %q, want fgx", got)
	}
}

func (c *conformance) remove() {
	c.put("d/f", []byte("x"))
	c.put("d/e/g", []byte("x"))
	c.put("other", []byte("x"))
	for _, name := range []string{"d/f", "d", "d"} {
		if err := c.s.Remove(c.ctx, name); err != nil {
			c.Errorf("remove %s: %v", name, err)
		}
		c.absent(name)
	}
	if err := c.s.Remove(c.ctx, "."); err == nil {
		c.Error("the root is removed")
	}
	if got := c.listing("."); got != "other" {
		c.Errorf("after that there are %q, want other", got)
	}
	c.put("d/f", []byte("again"))
}

func (c *conformance) unsafePaths() {
	c.put("f", []byte("x"))
	for _, bad := range []string{"", "/", "/f", "..", "../f", "d/../f", "./f", "d//f", "d/", "a\x00b", `d\f`} {
		_, errCreate := c.s.Create(c.ctx, bad)
		_, errOpen := c.s.Open(c.ctx, bad)
		_, errStat := c.s.Stat(c.ctx, bad)
		_, errList := c.s.List(c.ctx, bad)
		for what, err := range map[string]error{
			"create": errCreate, "open": errOpen, "stat": errStat, "list": errList,
			"mkdir": c.s.MkdirAll(c.ctx, bad), "remove": c.s.Remove(c.ctx, bad),
			"rename from": c.s.Rename(c.ctx, bad, "g"), "rename to": c.s.Rename(c.ctx, "f", bad),
		} {
			if err == nil || errors.Is(err, stage.ErrNotExist) {
				c.Errorf("%s %q: got %v, want a refusal of the path", what, bad, err)
			}
		}
	}
	if got := c.listing("."); got != "f" {
		c.Errorf("unsafe paths left %q, want f", got)
	}
}

func (c *conformance) oddNames() {
	for _, name := range []string{"금액/a b", "load_date=2026-09-28/x", "per%20cent", "plus+and&", "quote'\"", strings.Repeat("n", 200)} {
		c.put(name, []byte(name))
		if got := c.get(name); string(got) != name {
			c.Errorf("%q holds %q", name, got)
		}
	}
}
