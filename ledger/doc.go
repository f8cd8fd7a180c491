// Package ledger decides. It holds every fact of every run in PostgreSQL, and every step that a run takes is one method
// here, one transaction there. All other parts move data and ask.
//
// # The table
//
// [States] and [Transitions] are the run's state machine, as data. It is used three times: the diagram in docs is
// generated from it, [Next] is the only way to a next state in Go, and [Migrate] fills it into PostgreSQL, where plain
// foreign keys make the server itself refuse anything else, even a statement typed by hand: a history row must name a
// listed transition and follow a closed one, and a run can only be where its open history row is.
//
// # Decisions
//
// A decision names what it expects: the state, and where work is owned the token. When that is not what it finds, it
// changes nothing and returns an error that matches [ErrStale] and says what it found. The order of locks is run,
// partition, file, dispatch, session. A decision that must read what others may just have written locks the run's row
// first and reads in later statements, in READ COMMITTED; one statement that does both would read an older snapshot than
// its lock and lose, say, the last report of a run. All time is the database's.
//
// # Lost answers
//
// A connection lost at COMMIT is neither success nor failure: [ErrCommitUnknown]. Every decision can then be repeated
// as it was, and is answered as recorded: a submit by the id that its caller made, a claim, a step and its end by their
// token, a report by partition, index and content. [Ledger.Arm] alone must not be repeated but read.
//
// # Recovery
//
// [Ledger.Sweep] takes work from owners that are gone; every process ticks, one acts. Nothing is taken from anybody
// without a new token, so whoever was only slow is told by its next call. What became of a publish whose result did not
// come is never guessed: [Ledger.Fence], [Ledger.RecordFence], [Ledger.RecordObservation] and [Ledger.RecordVerdict]
// gather the proof, [Ledger.Resolve] takes the word; each names state and publish token, so a word about one attempt
// never decides about another. A ledger that may have lost its last transactions, because it is on another timeline of
// PostgreSQL's log than the one that was compared with the marks in the store, lets nothing leave a gated state until
// [Ledger.MarkFound] and [Ledger.Compared] were told of all marks.
//
// # Who may what
//
// The schema belongs to a role of its own. The role that runs loads can delete, truncate and define nothing, change no
// fact once it is written, and touch the tables of states not at all; see privileges.
package ledger
