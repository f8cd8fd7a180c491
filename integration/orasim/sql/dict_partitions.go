package sql

import "github.com/loadctl/loadctl/integration/orasim/store"

// partitionViews are the views of partitions, segments and extents.
func partitionViews(all map[string]*dictView) {
	family(all, "PART_TABLES", "OWNER TABLE_NAME PARTITIONING_TYPE:9 SUBPARTITIONING_TYPE:9 PARTITION_COUNT#n "+
		"DEF_SUBPARTITION_COUNT#n PARTITIONING_KEY_COUNT#n SUBPARTITIONING_KEY_COUNT#n STATUS:8 INTERVAL:1000", false, func(q *dictQuery) {
		for _, o := range q.partitioned() {
			p := o.parts
			sub := p.subKind
			if sub == "" {
				sub = "NONE"
			}
			q.add(o.owner, o.name, p.kind, sub, len(p.parts), 0, len(p.columns), len(p.subKeys), "VALID", nil)
		}
	})
	family(all, "TAB_PARTITIONS", "TABLE_OWNER TABLE_NAME COMPOSITE:3 PARTITION_NAME SUBPARTITION_COUNT#n HIGH_VALUE:4000 "+
		"HIGH_VALUE_LENGTH#n PARTITION_POSITION#n TABLESPACE_NAME:30 NUM_ROWS#n BLOCKS#n SEGMENT_CREATED:4 INTERVAL:3 READ_ONLY:4",
		false, func(q *dictQuery) {
			for _, o := range q.partitioned() {
				for i, p := range o.parts.parts {
					composite, subs := "NO", 0
					if p.sub != nil {
						composite, subs = "YES", len(p.sub.parts)
					}
					q.add(o.owner, o.name, composite, p.name, subs, shownBound(p), len(p.text), i+1, "USERS", nil, nil, "YES", "NO", "NO")
				}
			}
		})
	family(all, "TAB_SUBPARTITIONS", "TABLE_OWNER TABLE_NAME PARTITION_NAME SUBPARTITION_NAME HIGH_VALUE:4000 "+
		"HIGH_VALUE_LENGTH#n PARTITION_POSITION#n SUBPARTITION_POSITION#n TABLESPACE_NAME:30 NUM_ROWS#n BLOCKS#n SEGMENT_CREATED:3",
		false, func(q *dictQuery) {
			for _, o := range q.partitioned() {
				for i, p := range o.parts.parts {
					if p.sub == nil {
						continue
					}
					for k, s := range p.sub.parts {
						q.add(o.owner, o.name, p.name, s.name, shownBound(s), len(s.text), i+1, k+1, "USERS", nil, nil, "YES")
					}
				}
			}
		})
	keyColumns := func(sub bool) func(q *dictQuery) {
		return func(q *dictQuery) {
			for _, o := range q.partitioned() {
				keys := o.parts.columns
				if sub {
					keys = o.parts.subKeys
				}
				for i, at := range keys {
					q.add(o.owner, o.name, "TABLE", o.columns[at].name, i+1)
				}
			}
		}
	}
	spec := "OWNER NAME OBJECT_TYPE:5 COLUMN_NAME:4000 COLUMN_POSITION#n"
	family(all, "PART_KEY_COLUMNS", spec, false, keyColumns(false))
	family(all, "SUBPART_KEY_COLUMNS", spec, false, keyColumns(true))
	family(all, "SEGMENTS", "OWNER SEGMENT_NAME PARTITION_NAME SEGMENT_TYPE:18 TABLESPACE_NAME:30 HEADER_FILE#n HEADER_BLOCK#n "+
		"BYTES#n BLOCKS#n EXTENTS#n RELATIVE_FNO#n", false, func(q *dictQuery) {
		for _, s := range q.segments() {
			n := 0
			for _, e := range s.extents() {
				n += e.blocks
			}
			q.add(s.o.owner, s.o.name, s.part, s.kind, "USERS", store.DataFile, headerBlock, n*blockSize, n, len(s.extents()), store.DataFile)
		}
	})
	family(all, "EXTENTS", "OWNER SEGMENT_NAME PARTITION_NAME SEGMENT_TYPE:18 TABLESPACE_NAME:30 EXTENT_ID#n FILE_ID#n "+
		"BLOCK_ID#n BYTES#n BLOCKS#n RELATIVE_FNO#n", false, func(q *dictQuery) {
		for _, s := range q.segments() {
			for i, e := range s.extents() {
				q.add(s.o.owner, s.o.name, s.part, s.kind, "USERS", i, store.DataFile, e.from, e.blocks*blockSize, e.blocks, store.DataFile)
			}
		}
	})
	delete(all, "ALL_SEGMENTS") // Oracle has none of these
	delete(all, "ALL_EXTENTS")
}

// shownBound is HIGH_VALUE; a HASH partition has none.
func shownBound(p partition) any {
	if p.text == "" {
		return nil
	}
	return p.text
}

func (q *dictQuery) partitioned() []*object {
	var list []*object
	for _, o := range q.objects(kindTable) {
		if o.parts != nil {
			list = append(list, o)
		}
	}
	return list
}

// headerBlock is where every segment begins; its rows are in the blocks from store.FirstBlock on.
const headerBlock = store.FirstBlock - 3

// shownSegment is a row of DBA_SEGMENTS.
type shownSegment struct {
	o      *object
	part   any // name of the partition or subpartition
	kind   string
	object uint32 // data object number
	blocks int    // with rows
}

// segments are the segments of all tables within reach.
func (q *dictQuery) segments() []shownSegment {
	var list []shownSegment
	for _, o := range q.objects(kindTable) {
		list = append(list, o.segments()...)
	}
	return list
}

func (o *object) segments() []shownSegment {
	switch {
	case o.organization != "":
		return nil
	case o.parts == nil:
		return []shownSegment{{o, nil, "TABLE", o.table.DataObject(), o.blocks()}}
	}
	kind := "TABLE PARTITION"
	if o.parts.subKind != "" {
		kind = "TABLE SUBPARTITION"
	}
	var list []shownSegment
	for _, p := range o.parts.leaves() {
		list = append(list, shownSegment{o, p.name, kind, o.table.PartObject(p.leaf), o.table.PartBlocks(p.leaf)})
	}
	return list
}

// blockRun is a run of blocks.
type blockRun struct{ from, blocks int }

// extents are the runs of blocks of a segment as automatic allocation makes them: sixteen of 8 blocks, then
// 128 at a time.
func (s shownSegment) extents() []blockRun {
	var list []blockRun
	for at, end := headerBlock, store.FirstBlock+s.blocks; at < end || len(list) == 0; {
		n := 8
		if len(list) >= 16 {
			n = 128
		}
		list = append(list, blockRun{at, n})
		at += n
	}
	return list
}
