package ledger

import "fmt"

//go:generate go run ./internal/statedoc ../docs/state.md

// State is where a run is. The empty state is where a run is before it exists.
type State string

// The states of a run. Their meaning is [States].
const (
	Created               State = "CREATED"
	Extracting            State = "EXTRACTING"
	ExtractedValidated    State = "EXTRACTED_VALIDATED"
	StageValidating       State = "STAGE_VALIDATING"
	StagingValidated      State = "STAGING_VALIDATED"
	Publishing            State = "PUBLISHING"
	PublishUnknown        State = "PUBLISH_UNKNOWN"
	Published             State = "PUBLISHED"
	Success               State = "SUCCESS"
	Skipped               State = "SKIPPED"
	FailedManifest        State = "FAILED_MANIFEST"
	FailedSnapshotExpired State = "FAILED_SNAPSHOT_EXPIRED"
	FailedExtract         State = "FAILED_EXTRACT"
	FailedStageValidation State = "FAILED_STAGE_VALIDATION"
	FailedPublish         State = "FAILED_PUBLISH"
	FailedTarget          State = "FAILED_TARGET_VALIDATION"
	TimedOut              State = "TIMED_OUT"
	Cancelled             State = "CANCELLED"
)

// StateRow is what there is to know about a state. PostgreSQL holds the same rows in the table state.
type StateRow struct {
	Name   State
	Active bool     // a run in it blocks other runs of its key and of its target
	Gated  bool     // nothing leaves it while the ledger is on a timeline that was not compared with the marks
	Calls  Dispatch // the dispatch that every edge into it inserts; empty for none
	Doc    string
}

// Terminal says whether a run in this state is over.
func (s StateRow) Terminal() bool { return !s.Active }

// States are all states, in the order of the main path. Rows are only ever added.
var States = []StateRow{
	{Name: Created, Active: true, Calls: Plan, Doc: "asked for; nothing is known of the source yet"},
	{Name: Extracting, Active: true, Doc: "partitions are read as of the run's SCN"},
	{Name: ExtractedValidated, Active: true, Calls: ValidateStage, Doc: "every partition succeeded and the rows add up"},
	{Name: StageValidating, Active: true, Doc: "one owner seals the chunks and checks the staging table"},
	{Name: StagingValidated, Active: true, Gated: true, Calls: Publish, Doc: "sealed and equal to the source; ready to publish"},
	{Name: Publishing, Active: true, Gated: true, Doc: "one publisher holds the token; the statement runs at most once"},
	{Name: PublishUnknown, Active: true, Gated: true, Doc: "whether the target changed is not known; a person or proof decides"},
	{Name: Published, Active: true, Calls: ValidateTarget, Doc: "the target changed; not yet checked"},
	{Name: Success, Doc: "the target is equal to the source at the SCN"},
	{Name: Skipped, Doc: "the batch is the one that was verified last; nothing was published"},
	{Name: FailedManifest, Doc: "the plan broke an invariant, or was empty and that is not allowed"},
	{Name: FailedSnapshotExpired, Doc: "the source can no longer show the table at the SCN"},
	{Name: FailedExtract, Doc: "a partition could not be read, or its rows do not add up"},
	{Name: FailedStageValidation, Doc: "what was staged is not what was read"},
	{Name: FailedPublish, Doc: "the publish did not succeed; the run says whether the target is unchanged, damaged or unverified"},
	{Name: FailedTarget, Doc: "the target is not what was staged"},
	{Name: TimedOut, Doc: "the run passed its time limit before it published; damage by an earlier attempt stays flagged"},
	{Name: Cancelled, Doc: "stopped by a person before it published; damage by an earlier attempt stays flagged"},
}

// Event is what moves a run from one state to the next.
type Event string

// The events. What each means is told by the transitions that name it.
const (
	EventSubmit         Event = "submit"
	EventPlan           Event = "plan"
	EventPlanEmpty      Event = "plan_empty"
	EventManifestBroken Event = "manifest_broken"
	EventSnapshotGone   Event = "snapshot_expired"
	EventExtracted      Event = "extracted"
	EventExtractFailed  Event = "extract_failed"
	EventSkip           Event = "skip"
	EventStageBegin     Event = "stage_begin"
	EventStageFailed    Event = "stage_failed"
	EventStaged         Event = "staged"
	EventPublishClaim   Event = "publish_claim"
	EventMarkFound      Event = "mark_found"
	EventNotArmed       Event = "not_armed"
	EventPublishFailed  Event = "publish_failed"
	EventPublishUnknown Event = "publish_unknown"
	EventPublished      Event = "published"
	EventResolvePub     Event = "resolved_published"
	EventResolveFailed  Event = "resolved_failed"
	EventRepublish      Event = "republish"
	EventVerified       Event = "verified"
	EventTargetFailed   Event = "target_failed"
	EventTimeout        Event = "timeout"
	EventCancel         Event = "cancel"
)

// Boundary is a fact about a run that a caller may wait for, each with a time and evidence.
type Boundary string

// The boundaries, in order.
const (
	Accepted          Boundary = "accepted"
	Planned           Boundary = "planned"
	Extracted         Boundary = "extracted"
	Staged            Boundary = "staged"
	PublishedBoundary Boundary = "published"
	Verified          Boundary = "verified"
)

// Boundaries are all boundaries in the order in which a run reaches them.
var Boundaries = []Boundary{Accepted, Planned, Extracted, Staged, PublishedBoundary, Verified}

// Transition is one edge. PostgreSQL holds the same rows in the table transition, and refuses any other step.
type Transition struct {
	From    State // empty: the run does not exist yet
	Event   Event
	To      State
	Reaches []Boundary // what is true, for good, once this edge was taken
	Doc     string
}

// Transitions are all edges. Rows are only ever added. A pair of From and Event occurs once.
var Transitions = []Transition{
	{"", EventSubmit, Created, []Boundary{Accepted}, "asked for, with its resolved job"},
	{Created, EventPlan, Extracting, []Boundary{Planned}, "SCN fixed, partitions registered, cover proved"},
	{Created, EventPlanEmpty, ExtractedValidated, []Boundary{Planned, Extracted}, "every partition is empty and the job allows it"},
	{Created, EventManifestBroken, FailedManifest, nil, "the manifest breaks an invariant, or is empty and that is not allowed"},
	{Created, EventSnapshotGone, FailedSnapshotExpired, nil, "the SCN is out of reach"},
	{Created, EventTimeout, TimedOut, nil, "past the time limit"},
	{Created, EventCancel, Cancelled, nil, "by a person"},

	{Extracting, EventExtracted, ExtractedValidated, []Boundary{Extracted}, "the last partition succeeded, rows add up to the source's count"},
	{Extracting, EventExtractFailed, FailedExtract, nil, "a partition failed for good"},
	{Extracting, EventSnapshotGone, FailedSnapshotExpired, nil, "undo at the SCN is gone; only a new run helps"},
	{Extracting, EventTimeout, TimedOut, nil, "past the time limit"},
	{Extracting, EventCancel, Cancelled, nil, "by a person"},

	{ExtractedValidated, EventStageBegin, StageValidating, nil, "an owner took the step"},
	{ExtractedValidated, EventSkip, Skipped, nil, "the batch is the last verified one and the target still holds it"},
	{ExtractedValidated, EventTimeout, TimedOut, nil, "past the time limit"},
	{ExtractedValidated, EventCancel, Cancelled, nil, "by a person"},

	{StageValidating, EventStaged, StagingValidated, []Boundary{Staged}, "sealed, and every metric is equal"},
	{StageValidating, EventStageFailed, FailedStageValidation, nil, "a file or a metric differs"},
	{StageValidating, EventTimeout, TimedOut, nil, "past the time limit"},
	{StageValidating, EventCancel, Cancelled, nil, "by a person"},

	{StagingValidated, EventPublishClaim, Publishing, nil, "a publisher took the step with a new token"},
	{StagingValidated, EventMarkFound, PublishUnknown, nil, "a mark tells of a publish that the ledger has lost"},
	{StagingValidated, EventTimeout, TimedOut, nil, "past the time limit"},
	{StagingValidated, EventCancel, Cancelled, nil, "by a person"},

	{Publishing, EventNotArmed, StagingValidated, nil, "never armed, so nothing was sent; again later"},
	{Publishing, EventPublishFailed, FailedPublish, nil, "the server refused the statement when it was sent"},
	{Publishing, EventPublishUnknown, PublishUnknown, nil, "armed, and the outcome did not come back"},
	{Publishing, EventPublished, Published, []Boundary{PublishedBoundary}, "the server confirmed the statement"},

	{PublishUnknown, EventResolvePub, Published, []Boundary{PublishedBoundary}, "proved, or decided by a person, that the target changed"},
	{PublishUnknown, EventResolveFailed, FailedPublish, nil, "proved, or decided by a person, that the publish is over without success"},
	{PublishUnknown, EventNotArmed, StagingValidated, nil, "proved that it never was armed"},
	{PublishUnknown, EventRepublish, StagingValidated, nil, "a person asked to publish the sealed data again, with a new token"},

	{Published, EventVerified, Success, []Boundary{Verified}, "every metric of the target is equal to staging"},
	{Published, EventTargetFailed, FailedTarget, nil, "a metric of the target differs"},
}

// Next is the state that event leads to from a state. It is the only way to a next state.
func Next(from State, event Event) (State, error) {
	for _, t := range Transitions {
		if t.From == from && t.Event == event {
			return t.To, nil
		}
	}
	return "", &TransitionError{From: from, Event: event}
}

// Lookup finds the row of a state.
func Lookup(name State) (StateRow, bool) {
	for _, s := range States {
		if s.Name == name {
			return s, true
		}
	}
	return StateRow{}, false
}

// Active says whether the state blocks other runs; a run in any other state is over.
func (s State) Active() bool {
	row, _ := Lookup(s)
	return row.Active
}

// Dispatch is a kind of work in the outbox.
type Dispatch string

// The kinds of dispatch.
const (
	Plan           Dispatch = "PLAN"
	ValidateStage  Dispatch = "VALIDATE_STAGE"
	Publish        Dispatch = "PUBLISH"
	ValidateTarget Dispatch = "VALIDATE_TARGET"
	Clean          Dispatch = "CLEAN"
	Notify         Dispatch = "NOTIFY"
)

// DispatchRow says which state a kind of dispatch serves and how owning it begins.
type DispatchRow struct {
	Kind    Dispatch
	Serves  State // it may be owned while the run is here
	Begin   Event // the state change that owning starts with; empty for none
	Resumes State // it may also be owned again while the run is here; empty for none
	Doc     string
}

// Dispatches are the kinds that are steps of a run. CLEAN and NOTIFY are not: they follow a run's end.
// A publish is not resumed: who comes second cannot know whether the first one sent its statement.
var Dispatches = []DispatchRow{
	{Kind: Plan, Serves: Created, Doc: "fix the SCN, slice the table, count, register the manifest"},
	{Kind: ValidateStage, Serves: ExtractedValidated, Begin: EventStageBegin, Resumes: StageValidating, Doc: "seal the chunks, compare staging with the stream"},
	{Kind: Publish, Serves: StagingValidated, Begin: EventPublishClaim, Doc: "publish the sealed files, once"},
	{Kind: ValidateTarget, Serves: Published, Doc: "compare the target with staging"},
}

// step finds the row of a kind of dispatch.
func (d Dispatch) step() (DispatchRow, error) {
	for _, row := range Dispatches {
		if row.Kind == d {
			return row, nil
		}
	}
	return DispatchRow{}, fmt.Errorf("own dispatch %s: not a step of a run", d)
}
