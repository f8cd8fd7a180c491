package pipeline

import (
	"context"
	"errors"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

// Exit codes of loadctl, promised to scripts. A code that is not listed is a failure.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitDuplicate   = 3
	ExitUnknown     = 4
	ExitUnreachable = 5
	ExitTimeout     = 6
	ExitInterrupted = 130
)

// ExitCode is one exit code with its meaning.
type ExitCode struct {
	Code    int
	Meaning string
}

// ExitCodes lists the exit codes, in order; docs/errors.md and "loadctl help exit" are printed from it.
var ExitCodes = []ExitCode{
	{ExitOK, "success"},
	{ExitFailed, "the run failed, or a check said no"},
	{ExitUsage, "usage or configuration"},
	{ExitDuplicate, "an active run of the same job and key, or of the same target, is in the way"},
	{ExitUnknown, "the outcome of a publish is not known; a person must decide"},
	{ExitUnreachable, "a dependency is unreachable or refuses the login"},
	{ExitTimeout, "timed out waiting; nothing was changed"},
	{ExitInterrupted, "interrupted; the run lives on in the ledger"},
}

// Kind is what the runner does about an error.
type Kind string

// Kinds, from harmless to grave.
const (
	Transient Kind = "transient" // nothing happened, it may pass: the same step again, with backoff, bounded
	Stale     Kind = "stale"     // ownership was lost or somebody moved the run: drop it, say so once
	Permanent Kind = "permanent" // somebody must change something: fail, with a hint
	Mismatch  Kind = "mismatch"  // values differ: fail, keep the files
	Expired   Kind = "expired"   // the snapshot is gone: fail at once, only a new run helps
	Unknown   Kind = "unknown"   // the effect may have happened: stay, look, never clean
)

// Class is a row of the one table that says what an error means.
type Class struct {
	Code    string // stable; printed in brackets at the end of a message
	Kind    Kind
	Exit    int
	Is      []error // the sentinels that it stands for
	Meaning string
	Hint    string // what to do; "" when the error's own text says it
}

// Errors of the pipeline itself.
var (
	// ErrMismatch: source, stream, staging or target disagree.
	ErrMismatch = errors.New("validation failed")
	// ErrEmpty: the source has no rows for the key and the job does not allow that.
	ErrEmpty = errors.New("no rows and empty loads are not allowed")
	// ErrManifest: the plan's proof of cover does not hold.
	ErrManifest = errors.New("slices do not cover the table exactly once")
	// ErrWaitTimeout: a wait ended before its boundary was reached.
	ErrWaitTimeout = errors.New("timed out waiting")
	// ErrRunFailed: the run that was driven or watched ended in a FAILED state.
	ErrRunFailed = errors.New("run failed")
	// ErrPublishUnknown: the run that was driven or watched waits for a decision.
	ErrPublishUnknown = errors.New("publish outcome unknown")
	// ErrUsage: a bad flag, argument or configuration.
	ErrUsage = errors.New("usage")
	// ErrInterrupted: a signal ended the work.
	ErrInterrupted = errors.New("interrupted")
	// ErrNoEvidence: a publish left nothing that its target could be compared with.
	ErrNoEvidence = errors.New("no evidence of the publish")
)

// Classes is the one table: error to class, to exit code, to hint. The first row that matches wins, so what is
// graver stands first. docs/errors.md is generated from it.
var Classes = []Class{
	{"PUBLISH_UNKNOWN", Unknown, ExitUnknown, []error{publish.ErrUnknown, ErrPublishUnknown},
		"the publish statement may have changed the target, or may still", "loadctl reconcile RUN finds out; new runs of this key wait until it is resolved"},
	{"COMMIT_UNKNOWN", Transient, ExitUnreachable, []error{ledger.ErrCommitUnknown},
		"the connection to the ledger was lost while it was committing; the ledger is asked again, nothing is assumed", ""},
	{"DUPLICATE_ACTIVE_RUN", Permanent, ExitDuplicate, []error{ledger.ErrDuplicate},
		"this job and key already have an active run, which was left untouched", ""},
	{"TARGET_BUSY", Permanent, ExitDuplicate, []error{ledger.ErrTargetBusy},
		"another active run writes the same target", ""},
	{"LEDGER_TIMELINE", Unknown, ExitFailed, []error{ledger.ErrTimeline},
		"the ledger is on a timeline that was not compared with the marks in the store: it may have lost its last transactions", "loadctl reconcile --ledger compares them; nothing is published or deleted until then"},
	{"STOPPED", Stale, ExitInterrupted, []error{ErrStop}, "the process was asked to stop; what it had in hand was given back", ""},
	{"LEASE_LOST", Stale, ExitFailed, []error{ErrLeaseLost}, "the process could not renew its ownership in time and dropped the work", ""},
	{"STALE", Stale, ExitFailed, []error{ledger.ErrStale, ledger.ErrClaimMismatch},
		"somebody else moved the run or owns this piece of it now; this process dropped it", ""},
	{"SNAPSHOT_EXPIRED", Expired, ExitFailed, []error{extract.ErrSnapshotTooOld},
		"Oracle can no longer show the table as of the run's SCN; nothing reached the target", "run again: a new run takes a new snapshot; if it recurs ask for a longer UNDO_RETENTION or use more workers"},
	{"IDENTITY", Permanent, ExitFailed, []error{extract.ErrIdentity},
		"the database that answers is not the one that the run was planned on", "check where the source's address leads (standby, clone, another container), then run again"},
	{"MISMATCH", Mismatch, ExitFailed, []error{ErrMismatch, stage.ErrMismatch, ledger.ErrMismatch},
		"two places that must agree do not; the target was not published, or its new content is not what was staged", "compare the values above; the run's files are kept for inspection"},
	{"LEDGER_MISMATCH", Unknown, ExitUnknown, nil,
		"a mark in the store tells of a publish that the ledger does not know: it has lost its last transactions", "loadctl reconcile --ledger compares all of it; docs/recovery.md shows the way out"},
	{"NO_EVIDENCE", Permanent, ExitFailed, []error{ErrNoEvidence},
		"nothing was recorded that the target could be compared with", "loadctl status RUN shows what was; a new run records it anew"},
	{"CHUNK_CONFLICT", Mismatch, ExitFailed, []error{ledger.ErrChunkConflict, ledger.ErrConflict},
		"one call under one token said two different things; nothing of the second was recorded", "this is a fault of loadctl: keep the log and report it"},
	{"MANIFEST", Mismatch, ExitFailed, []error{ErrManifest, extract.ErrManifest, ledger.ErrManifest},
		"the slices of the plan do not add up to the table", "this is a fault of loadctl or of the source's consistency: keep the output of loadctl plan and report it"},
	{"EMPTY_REFUSED", Permanent, ExitFailed, []error{ErrEmpty},
		"the source has no rows for this key and the job does not allow an empty load; the target was left as it was", "if that is right, set allow_empty: true in the job"},
	{"PUBLISH_REFUSED", Permanent, ExitFailed, []error{publish.ErrRefused},
		"the warehouse refused the statement before it ran; the target is unchanged", ""},
	{"PRIVILEGE", Permanent, ExitFailed, []error{extract.ErrPrivilege},
		"the source user lacks a privilege", ""},
	{"NO_TABLE", Permanent, ExitFailed, []error{extract.ErrNoTable}, "the source table does not exist, or this user may not see it", ""},
	{"NO_COLUMN", Permanent, ExitFailed, []error{extract.ErrNoColumn}, "the source table has no such column", ""},
	{"UNSUPPORTED", Permanent, ExitFailed, []error{extract.ErrUnsupported}, "a column type or object kind is refused rather than guessed", ""},
	{"VALUE", Permanent, ExitFailed, []error{extract.ErrValue}, "a value does not fit its declared type; values are never rounded, replaced or cut", ""},
	{"SHORT_STREAM", Transient, ExitFailed, []error{extract.ErrShort}, "a stream of rows ended before all expected rows had come", ""},
	{"QUERY", Permanent, ExitFailed, []error{extract.ErrQuery}, "the source refused the statement", "loadctl plan --sql prints the statement"},
	{"NO_TARGET", Permanent, ExitFailed, []error{publish.ErrNoTarget}, "the target table does not exist and the job may not create it", ""},
	{"TARGET_SCHEMA", Permanent, ExitFailed, []error{publish.ErrSchema}, "the target's columns or partitions are not those of the plan", ""},
	{"STATEMENT", Permanent, ExitFailed, []error{publish.ErrStatement}, "the warehouse refused or failed a statement that changes no target", ""},
	{"LOGIN", Permanent, ExitUnreachable, []error{extract.ErrAuth, publish.ErrAuth, ledger.ErrAuth}, "a login was refused; it was tried once, so that no account is locked",
		"check user, password and grants of the place that the message names; loadctl check --connect tries them again"},
	{"STORE_PERMISSION", Permanent, ExitFailed, []error{stage.ErrPermission}, "the store refuses this user", ""},
	{"NO_SPACE", Transient, ExitFailed, []error{stage.ErrNoSpace}, "the store is full or over its quota", "make room or raise the quota"},
	{"UNREACHABLE", Transient, ExitUnreachable, []error{extract.ErrUnreachable, extract.ErrBusy, stage.ErrUnreachable, publish.ErrUnreachable, ledger.ErrUnreachable},
		"a dependency does not answer; nothing was lost",
		"see whether it is up and reached from this host, then do the same again; loadctl check --connect asks all of them"},
	{"LEDGER_SCHEMA", Permanent, ExitUsage, []error{ledger.ErrSchema, ledger.ErrNoDatabase}, "the ledger is not there, or its schema is older than this program", "run: loadctl migrate"},
	{"OLD_BINARY", Permanent, ExitUsage, []error{ledger.ErrOldBinary}, "the ledger's schema is newer than this program", "install a newer loadctl"},
	{"LEDGER_ROLE", Permanent, ExitUsage, []error{ledger.ErrRole, ledger.ErrPrivilege}, "the ledger's role is missing or lacks a privilege", "run: loadctl migrate, which makes the grants"},
	{"WAIT_TIMEOUT", Transient, ExitTimeout, []error{ErrWaitTimeout}, "the wait ended, nothing was changed", ""},
	{"NOT_ALLOWED", Permanent, ExitFailed, []error{ledger.ErrTransition}, "the run is where that is not allowed", "docs/state.md has every allowed step"},
	{"INVALID", Permanent, ExitUsage, []error{ledger.ErrInvalid}, "the request is malformed", ""},
	{"AMBIGUOUS", Permanent, ExitUsage, []error{ledger.ErrAmbiguous}, "more than one run could be meant", "name more digits of its id, or JOB/DATE#N"},
	{"STORE_CONFLICT", Permanent, ExitFailed, []error{stage.ErrExist}, "something is at a name that must be free; nothing was overwritten", ""},
	{"NO_FILE", Permanent, ExitFailed, []error{stage.ErrNotExist}, "a file or directory is not there", ""},
	{"NO_RUN", Permanent, ExitUsage, []error{ledger.ErrNoRun}, "no run has this id or handle", "loadctl list"},
	{"CANCELLED", Permanent, ExitFailed, nil, "a person ended the run before it published", "a new run starts from the beginning"},
	{"TIMED_OUT", Permanent, ExitFailed, nil, "the run passed its time limit before it published", "loadctl events RUN shows what it waited for; then run again, or raise run_timeout"},
	{"RUN_FAILED", Permanent, ExitFailed, []error{ErrRunFailed}, "the run ended in a failure; its reason is in the message", ""},
	{"USAGE", Permanent, ExitUsage, []error{ErrUsage}, "a flag, an argument or the configuration is wrong", ""},
	{"INTERRUPTED", Stale, ExitInterrupted, []error{ErrInterrupted, context.Canceled}, "a signal ended the work; the run lives on in the ledger", ""},
	{"TIMEOUT", Transient, ExitFailed, []error{context.DeadlineExceeded}, "an operation took longer than its limit", ""},
}

// internal is the class of everything that no row stands for.
var internal = Class{"INTERNAL", Permanent, ExitFailed, nil, "an error that loadctl has no word for", "please report it with the message"}

// Classify finds the class of an error.
func Classify(err error) Class {
	for _, c := range Classes {
		for _, is := range c.Is {
			if errors.Is(err, is) {
				return c
			}
		}
	}
	return internal
}

// ClassByCode finds the class that was recorded with a run. What the ledger calls a broken manifest by the name of the
// invariant is MANIFEST.
func ClassByCode(code string) (Class, bool) {
	switch code {
	case ledger.ReasonNoSlices, ledger.ReasonIndex, ledger.ReasonDuplicate, ledger.ReasonNullSlice, ledger.ReasonNegativeCount, ledger.ReasonSum:
		code = "MANIFEST"
	}
	for _, c := range Classes {
		if c.Code == code {
			return c, true
		}
	}
	return Class{}, false
}
