package parquet

import (
	"encoding/binary"
	"hash/maphash"
)

const (
	// entryBytes is about what an entry takes beside its text: its length in the file, hash, end, and its share of the
	// table.
	entryBytes = 24
	leastTable = 256
)

// dictionary numbers the texts of one column chunk, in the order of their first appearance. It keeps its memory.
type dictionary struct {
	limit int // of size
	seed  maphash.Seed
	table []uint32 // index+1 at the first free place after the hash; 0: free. A power of two, at most half full
	hash  []uint32
	end   []uint32
	arena []byte
}

func newDictionary(limit int) *dictionary {
	return &dictionary{limit: limit, seed: maphash.MakeSeed()}
}

func (d *dictionary) len() int { return len(d.end) }

// size is about what it takes in memory.
func (d *dictionary) size() int { return len(d.arena) + len(d.end)*entryBytes }

// plainSize is what it takes in the file, before compression.
func (d *dictionary) plainSize() int { return len(d.arena) + len(d.end)*4 }

func (d *dictionary) at(i uint32) []byte {
	if i == 0 {
		return d.arena[:d.end[0]]
	}
	return d.arena[d.end[i-1]:d.end[i]]
}

// index is the number of a text, which is added where it is new; ok is false where there is no room for it.
func (d *dictionary) index(p []byte) (i uint32, ok bool) {
	if 2*(len(d.end)+1) > len(d.table) {
		d.grow()
	}
	full := maphash.Bytes(d.seed, p)
	hash, mask := uint32(full>>32), len(d.table)-1
	for at := int(full) & mask; ; at = (at + 1) & mask {
		n := d.table[at]
		if n == 0 {
			if d.size()+len(p)+entryBytes > d.limit {
				return 0, false
			}
			d.add(p, hash)
			d.table[at] = uint32(len(d.end))
			return uint32(len(d.end) - 1), true
		}
		if d.hash[n-1] == hash && string(d.at(n-1)) == string(p) {
			return n - 1, true
		}
	}
}

func (d *dictionary) add(p []byte, hash uint32) {
	d.arena = append(d.arena, p...)
	d.end = append(d.end, uint32(len(d.arena)))
	d.hash = append(d.hash, hash)
}

// grow doubles the table.
func (d *dictionary) grow() {
	d.table = make([]uint32, max(2*len(d.table), leastTable))
	mask := len(d.table) - 1
	for i := range d.end {
		at := int(maphash.Bytes(d.seed, d.at(uint32(i)))) & mask
		for d.table[at] != 0 {
			at = (at + 1) & mask
		}
		d.table[at] = uint32(i + 1)
	}
}

// truncate forgets what was added after the first n; no more can be added.
func (d *dictionary) truncate(n int) {
	d.end, d.hash = d.end[:n], d.hash[:n]
	end := uint32(0)
	if n > 0 {
		end = d.end[n-1]
	}
	d.arena = d.arena[:end]
}

func (d *dictionary) reset() {
	clear(d.table)
	d.truncate(0)
}

// appendPlain appends all texts as the dictionary page holds them.
func (d *dictionary) appendPlain(dst []byte) []byte {
	for i := range d.end {
		dst = appendText(dst, d.at(uint32(i)))
	}
	return dst
}

func appendText(dst, p []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(p)))
	return append(dst, p...)
}
