// Package pipeline moves a run from CREATED to SUCCESS: it plans, extracts, validates, publishes and validates
// again, by asking the three ports (extract.Source, stage.Store, publish.Warehouse) for effects and the ledger
// for every decision.
//
// Reading order: job.go (what a run carries), plan.go (a plan is a value), step.go (the table of steps),
// then one file a step: step_plan.go, step_stage.go, step_publish.go, step_target.go. worker.go extracts
// partitions. engine.go runs workers and the dispatcher; class.go says what an error means, to the run and to
// the person on call.
//
// The package knows no adapter and reads no configuration: cmd/internal/wire puts both together.
package pipeline
