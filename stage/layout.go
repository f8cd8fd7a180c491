package stage

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// Names in a run's directory that are not chunks. Hive and its kin take names that begin with "_" for hidden.
const (
	// OwnerFile is the first file of a run's directory and of its directory of attempts. It says whose it is;
	// nothing without it is ever deleted.
	OwnerFile = "_loadctl.json"
	// SuccessFile is the last file of a run's directory: all chunks are there and no other.
	SuccessFile = "_SUCCESS"

	markPrefix = "_PUBLISH."
)

// Owner says whose a directory is. It is the content of OwnerFile.
type Owner struct {
	Ledger string `json:"ledger"` // id of the ledger
	Run    string `json:"run"`
	Job    string `json:"job"`
}

func (o Owner) String() string {
	return fmt.Sprintf("run %s of job %s in ledger %s", o.Run, o.Job, o.Ledger)
}

// Layout says where the files of one run are, relative to the store's root:
//
//	<job>/.attempts/run_id=<run>/_loadctl.json
//	<job>/.attempts/run_id=<run>/<partition>-<token>/part-<partition>-<index>.parquet
//	<job>/run_id=<run>/_loadctl.json
//	<job>/run_id=<run>/part-<partition>-<index>.parquet
//	<job>/run_id=<run>/_SUCCESS
//	<job>/run_id=<run>/_PUBLISH.<n>
//
// Attempts lie beside the run's directory, never in it, and each has its own: a worker that was given up and
// comes back can neither overwrite nor mix with the files of the attempt that won.
type Layout struct{ owner Owner }

// NewLayout refuses names that are not safe as one component of a path on every store.
func NewLayout(o Owner) (Layout, error) {
	err := errors.Join(checkName("job", o.Job), checkName("run", o.Run), checkName("ledger", o.Ledger))
	if err != nil {
		return Layout{}, err
	}
	return Layout{owner: o}, nil
}

// Owner says whose files these are.
func (l Layout) Owner() Owner { return l.owner }

// RunDir is the directory of the sealed run.
func (l Layout) RunDir() string { return path.Join(l.owner.Job, "run_id="+l.owner.Run) }

// AttemptsDir is the directory of all attempts of the run.
func (l Layout) AttemptsDir() string {
	return path.Join(l.owner.Job, ".attempts", "run_id="+l.owner.Run)
}

// AttemptDir is the directory of one attempt at a partition; token is the claim's.
func (l Layout) AttemptDir(partition int, token string) (string, error) {
	if partition < 0 {
		return "", fmt.Errorf("refuse partition %d: it is negative", partition)
	}
	if err := checkName("token", token); err != nil {
		return "", err
	}
	return path.Join(l.AttemptsDir(), strconv.Itoa(partition)+"-"+token), nil
}

// Sealed is the path of a chunk in the run's directory.
func (l Layout) Sealed(c Chunk) string { return path.Join(l.RunDir(), ChunkName(c.Partition, c.Index)) }

// Mark is the path of the mark that publish attempt n leaves before it arms.
func (l Layout) Mark(n int) string { return path.Join(l.RunDir(), markPrefix+strconv.Itoa(n)) }

// MarkNumber tells whether a name in a run's directory is a publish mark, and of which attempt.
func MarkNumber(name string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(name, markPrefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n >= 0 && strconv.Itoa(n) == digits
}

// ChunkName is the name of a chunk's file, the same in its attempt and in the sealed run. Numbers are padded,
// so that names sort as the numbers do.
func ChunkName(partition, index int) string {
	return fmt.Sprintf("part-%05d-%05d.parquet", partition, index)
}

// Owner says whose manifest it is.
func (m Manifest) Owner() Owner { return Owner{Ledger: m.Ledger, Run: m.Run, Job: m.Job} }

// checkManifest refuses a manifest that is not of this layout, or that could not have been written into it.
func (l Layout) checkManifest(m Manifest) error {
	if m.Owner() != l.owner {
		return fmt.Errorf("refuse manifest of %v: the layout is of %v: %w", m.Owner(), l.owner, ErrMismatch)
	}
	seen := make(map[string]string, len(m.Chunks))
	for _, c := range m.Chunks {
		name := ChunkName(c.Partition, c.Index)
		if other, twice := seen[name]; twice {
			return fmt.Errorf("refuse manifest: %s and %s are both chunk %d of partition %d: %w", other, c.Path, c.Index, c.Partition, ErrMismatch)
		}
		seen[name] = c.Path
		if err := l.checkChunk(c, name); err != nil {
			return fmt.Errorf("%w: %w", err, ErrMismatch)
		}
	}
	return nil
}

func (l Layout) checkChunk(c Chunk, name string) error {
	attempt := path.Dir(c.Path)
	if err := CheckChunkPath(attempt, c.Path); err != nil {
		return err
	}
	partition := strconv.Itoa(c.Partition) + "-"
	if path.Dir(attempt) != l.AttemptsDir() || !strings.HasPrefix(path.Base(attempt), partition) {
		return fmt.Errorf("refuse chunk %q: not in an attempt at partition %d of %s", c.Path, c.Partition, l.AttemptsDir())
	}
	if path.Base(c.Path) != name {
		return fmt.Errorf("refuse chunk %q: chunk %d of partition %d is named %s", c.Path, c.Index, c.Partition, name)
	}
	if c.Rows < 0 || c.Bytes < 0 {
		return fmt.Errorf("refuse chunk %q: %d rows in %d bytes", c.Path, c.Rows, c.Bytes)
	}
	return nil
}
