package config

import "strings"

// Words are what an enumeration knows: the accepted, and those that are understood but not supported yet,
// each with what to use instead. Words are matched exactly.
type Words struct {
	Accepted []string
	Later    []string
	Instead  string
}

// enum is a type whose values are words.
type enum interface{ Words() Words }

// SplitStrategy is how rows are divided into partitions.
type SplitStrategy string

// Split strategies.
const (
	SplitSingle SplitStrategy = "single"
	SplitRange  SplitStrategy = "range"
)

// Words lists the strategies.
func (SplitStrategy) Words() Words {
	return Words{
		Accepted: []string{"single", "range"},
		Later:    []string{"auto", "balanced", "rowid", "partition", "hash", "predicates"},
		Instead:  "range",
	}
}

// Reader is how rows are read from a source.
type Reader string

// Readers.
const (
	ReaderAuto   Reader = "auto"
	ReaderThin   Reader = "thin"
	ReaderDriver Reader = "driver"
)

// Words lists the readers.
func (Reader) Words() Words { return Words{Accepted: []string{"auto", "thin", "driver"}} }

// PublishMode is how a target's rows are replaced.
type PublishMode string

// InsertOverwrite replaces the partition by one INSERT OVERWRITE.
const InsertOverwrite PublishMode = "insert_overwrite"

// Words lists the modes.
func (PublishMode) Words() Words {
	return Words{Accepted: []string{"insert_overwrite"}, Later: []string{"swap", "merge"}, Instead: "insert_overwrite"}
}

// Create says whether a missing target table is made.
type Create string

// Policies for a missing target table.
const (
	CreateIfMissing Create = "if_missing"
	CreateNever     Create = "never"
)

// Words lists the policies.
func (Create) Words() Words { return Words{Accepted: []string{"if_missing", "never"}} }

// BusinessKey is what tells one load of a job from another.
type BusinessKey string

// KeyDate makes each load that of a calendar date.
const KeyDate BusinessKey = "date"

// Words lists the kinds of business key.
func (BusinessKey) Words() Words {
	return Words{Accepted: []string{"date"}, Later: []string{"hour", "month", "window", "none"}, Instead: "date"}
}

// SSLMode is how the connection to PostgreSQL is encrypted.
type SSLMode string

// Words lists libpq's words.
func (SSLMode) Words() Words {
	return Words{Accepted: []string{"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}}
}

// HiveAuth is how HiveServer2 authenticates.
type HiveAuth string

// Authentications of HiveServer2.
const (
	HiveNone   HiveAuth = "NONE"
	HiveNoSASL HiveAuth = "NOSASL"
	HiveLDAP   HiveAuth = "LDAP"
	HiveCustom HiveAuth = "CUSTOM"
)

// Words lists the authentications.
func (HiveAuth) Words() Words {
	return Words{
		Accepted: []string{"NONE", "NOSASL", "LDAP", "CUSTOM"},
		Later:    []string{"KERBEROS", "PAM", "SAML", "JWT"},
		Instead:  "LDAP or CUSTOM",
	}
}

// HiveTransport is how HiveServer2 is reached.
type HiveTransport string

// TransportBinary is Thrift over TCP.
const TransportBinary HiveTransport = "binary"

// Words lists the transports.
func (HiveTransport) Words() Words {
	return Words{Accepted: []string{"binary"}, Later: []string{"http", "https"}, Instead: "binary"}
}

// RecoveryMode is what becomes of a partition whose worker is lost.
type RecoveryMode string

// Recovery modes.
const (
	RecoveryReissue RecoveryMode = "REISSUE"
	RecoveryFail    RecoveryMode = "FAIL"
)

// Words lists the modes.
func (RecoveryMode) Words() Words { return Words{Accepted: []string{"REISSUE", "FAIL"}} }

// PublishUnknown is what ends a publish whose outcome is not known.
type PublishUnknown string

// Ways to end a publish of unknown outcome.
const (
	UnknownAsk   PublishUnknown = "ask"
	UnknownProve PublishUnknown = "prove"
)

// Words lists the ways.
func (PublishUnknown) Words() Words { return Words{Accepted: []string{"ask", "prove"}} }

// LogLevel is the least level that is logged.
type LogLevel string

// Words lists the levels.
func (LogLevel) Words() Words { return Words{Accepted: []string{"debug", "info", "warn", "error"}} }

// LogFormat is the form of a log line.
type LogFormat string

// Log formats.
const (
	LogText LogFormat = "text"
	LogJSON LogFormat = "json"
)

// Words lists the formats.
func (LogFormat) Words() Words { return Words{Accepted: []string{"text", "json"}} }

// check accepts a word or says why not.
func (w Words) check(word string) error {
	for _, a := range w.Accepted {
		if a == word {
			return nil
		}
	}
	for _, l := range w.Later {
		if strings.EqualFold(l, word) {
			return refuse("%q is not supported yet", word).hint("use " + w.Instead)
		}
	}
	hint := "one of: " + strings.Join(w.Accepted, ", ")
	if near := nearest(word, w.Accepted); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	return refuse("%q is not a word for this", word).hint(hint)
}
