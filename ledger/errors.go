package ledger

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Sentinels. Typed errors below match them with errors.Is and carry the detail.
var (
	ErrStale         = errors.New("ownership lost or run moved on")
	ErrDuplicate     = errors.New("DUPLICATE_ACTIVE_RUN")
	ErrTargetBusy    = errors.New("TARGET_BUSY")
	ErrChunkConflict = errors.New("CHUNK_CONFLICT")
	ErrClaimMismatch = errors.New("CLAIM_MISMATCH")
	ErrConflict      = errors.New("REPORT_CONFLICT") // a repeated call under one token or id says something else than the first
	ErrTransition    = errors.New("FAIL_TRANSITION_NOT_ALLOWED")
	ErrManifest      = errors.New("FAILED_MANIFEST")
	ErrMismatch      = errors.New("values differ")
	ErrTimeline      = errors.New("LEDGER_TIMELINE_NOT_COMPARED")
	ErrNoRun         = errors.New("no such run")
	ErrAmbiguous     = errors.New("more than one run matches")
	ErrInvalid       = errors.New("invalid request")

	ErrCommitUnknown = errors.New("connection lost at commit: read again or repeat the call") // it may have happened
	ErrUnreachable   = errors.New("ledger unreachable")
	ErrAuth          = errors.New("ledger refused the login")
	ErrNoDatabase    = errors.New("ledger database does not exist")
	ErrSchema        = errors.New("ledger schema missing or too old: run loadctl migrate")
	ErrOldBinary     = errors.New("this binary is too old for the ledger: install a newer loadctl")
	ErrRole          = errors.New("ledger role missing or unfit")
	ErrPrivilege     = errors.New("ledger role lacks a privilege")
)

// StaleError says that a call came too late: the run, partition or dispatch is not where, or not whose, it was thought.
type StaleError struct {
	What  string // "run", "partition 3", "dispatch 17"
	Run   uuid.UUID
	State string // what was found
	Why   string
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("%s of run %s is %s: %s", e.What, e.Run, e.State, e.Why)
}

// Is makes errors.Is(err, ErrStale) hold.
func (e *StaleError) Is(target error) bool { return target == ErrStale }

// DuplicateError is the answer to a submit while another run of the same job and key is active. First is untouched.
type DuplicateError struct{ First Active }

// Active names an active run that stands in the way.
type Active struct {
	ID     uuid.UUID
	Job    string
	Key    string
	Number int
	State  State
	Since  time.Time // in State
	By     string    // who submitted it
}

// Handle is the run's name for people, job/key#number.
func (a Active) Handle() string { return fmt.Sprintf("%s/%s#%d", a.Job, a.Key, a.Number) }

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("%s/%s already has an active run #%d (%s, %s since %s)",
		e.First.Job, e.First.Key, e.First.Number, e.First.ID, e.First.State, e.First.Since.UTC().Format(time.RFC3339))
}

// Is makes errors.Is(err, ErrDuplicate) hold.
func (e *DuplicateError) Is(target error) bool { return target == ErrDuplicate }

// TargetBusyError is the answer to a submit while a run of another job or key writes the same target.
type TargetBusyError struct {
	Target string
	First  Active
}

func (e *TargetBusyError) Error() string {
	return fmt.Sprintf("target %s is busy with run %s (%s, %s since %s)",
		e.Target, e.First.Handle(), e.First.ID, e.First.State, e.First.Since.UTC().Format(time.RFC3339))
}

// Is makes errors.Is(err, ErrTargetBusy) hold.
func (e *TargetBusyError) Is(target error) bool { return target == ErrTargetBusy }

// ChunkConflictError says that the index of a chunk is taken by other content.
type ChunkConflictError struct {
	Run       uuid.UUID
	Partition int
	Recorded  File
}

func (e *ChunkConflictError) Error() string {
	return fmt.Sprintf("chunk %d of partition %d of run %s is recorded as %s (%d rows, digest %s)",
		e.Recorded.Index, e.Partition, e.Run, e.Recorded.Path, e.Recorded.Rows, e.Recorded.Digest)
}

// Is makes errors.Is(err, ErrChunkConflict) hold.
func (e *ChunkConflictError) Is(target error) bool { return target == ErrChunkConflict }

// ClaimMismatchError says that a report's token is not the partition's: the attempt was given away or is over.
type ClaimMismatchError struct {
	Run       uuid.UUID
	Partition int
	State     PartitionState
}

func (e *ClaimMismatchError) Error() string {
	return fmt.Sprintf("partition %d of run %s is %s and not held by this token", e.Partition, e.Run, e.State)
}

// Is makes errors.Is(err, ErrClaimMismatch) and errors.Is(err, ErrStale) hold.
func (e *ClaimMismatchError) Is(target error) bool {
	return target == ErrClaimMismatch || target == ErrStale
}

// TransitionError says that no edge leads from a state by an event.
type TransitionError struct {
	From  State
	Event Event
	Why   string // may be empty
}

func (e *TransitionError) Error() string {
	text := fmt.Sprintf("event %s is not allowed in state %q", e.Event, e.From)
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}

// Is makes errors.Is(err, ErrTransition) hold.
func (e *TransitionError) Is(target error) bool { return target == ErrTransition }

// ResolveError says why a word on a publish is not taken.
type ResolveError struct {
	Run     uuid.UUID
	As      ResolveAs
	Verdict Verdict // empty: none
	Why     string
}

func (e *ResolveError) Error() string {
	verdict := e.Verdict
	if verdict == "" {
		verdict = "none"
	}
	return fmt.Sprintf("run %s is not resolved as %s (verdict: %s): %s", e.Run, e.As, verdict, e.Why)
}

// Is makes errors.Is(err, ErrTransition) hold.
func (e *ResolveError) Is(target error) bool { return target == ErrTransition }

// ReissueError says why a partition is not sent again.
type ReissueError struct {
	Run       uuid.UUID
	Partition int
	State     PartitionState
	Why       string
}

func (e *ReissueError) Error() string {
	return fmt.Sprintf("partition %d of run %s is not reissued: %s", e.Partition, e.Run, e.Why)
}

// Is makes errors.Is(err, ErrTransition) hold.
func (e *ReissueError) Is(target error) bool { return target == ErrTransition }

// ManifestError says which invariant a manifest broke. The run is FAILED_MANIFEST, committed, when it is returned.
type ManifestError struct {
	Run    uuid.UUID
	Reason string // EMPTY_REFUSED, or the name of the invariant
	Detail string
}

func (e *ManifestError) Error() string {
	return fmt.Sprintf("manifest of run %s: %s: %s", e.Run, e.Reason, e.Detail)
}

// Is makes errors.Is(err, ErrManifest) hold.
func (e *ManifestError) Is(target error) bool { return target == ErrManifest }

// MismatchError says which values differ. The run is in the failed state that it names, committed, when it is returned.
type MismatchError struct {
	Run   uuid.UUID
	State State
	Diffs []Diff
}

func (e *MismatchError) Error() string {
	if len(e.Diffs) == 0 {
		return fmt.Sprintf("run %s is %s", e.Run, e.State)
	}
	more := ""
	if n := len(e.Diffs) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return fmt.Sprintf("run %s is %s: %s%s", e.Run, e.State, e.Diffs[0], more)
}

// Is makes errors.Is(err, ErrMismatch) hold.
func (e *MismatchError) Is(target error) bool { return target == ErrMismatch }

// AmbiguousError lists the runs that a reference could mean.
type AmbiguousError struct {
	Ref  string
	Runs []Run
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q could be %d runs, among them %s and %s", e.Ref, len(e.Runs), e.Runs[0].Handle(), e.Runs[1].Handle())
}

// Is makes errors.Is(err, ErrAmbiguous) hold.
func (e *AmbiguousError) Is(target error) bool { return target == ErrAmbiguous }

// invalid makes an ErrInvalid.
func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}
