package config

import "embed"

//go:generate go test -run ^TestSchemaIsCurrent$ -update .

//go:embed schema/*.json
var schemas embed.FS

// Kind is a kind of file.
type Kind string

// Kinds of files.
const (
	KindDaemon Kind = "daemon"
	KindJob    Kind = "job"
)

// Words lists the kinds.
func (Kind) Words() Words { return Words{Accepted: []string{"daemon", "job"}} }

// Schema is the JSON schema (draft 2020-12) of a kind of file, for editors. It says what each setting means,
// its default and its words; what settings demand of each other only Load can tell.
func Schema(k Kind) ([]byte, error) {
	if err := k.Words().check(string(k)); err != nil {
		return nil, err
	}
	return schemas.ReadFile("schema/" + string(k) + ".json")
}
