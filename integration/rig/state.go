package rig

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// stateVersion goes up when the form of state or the way daemons are started changes, so that no stack of an older
// program is taken for a current one.
const stateVersion = 3

// state is what processes that share a stack know of it: the file state.json in its folder, written only under the
// stack's lock.
type state struct {
	Digest           string             `json:"digest"` // of options, configuration and poms: another digest is another stack
	Ports            ports              `json:"ports"`
	Postgres         string             `json:"postgres"`          // PostgreSQL's folder; elsewhere, since another user owns it
	PostgresPassword string             `json:"postgres_password"` // of all its users
	HivePassword     string             `json:"hive_password"`     // of all HiveServer2's users
	Daemons          map[string]process `json:"daemons"`           // by name; one that was never started is absent
	ProbedAt         time.Time          `json:"probed_at"`         // when Parts last answered all their probes; zero after any fault
	Parts            Part               `json:"parts"`             // those that answered
}

// ports are TCP ports on 127.0.0.1.
type ports struct {
	Postgres       int
	NameNode       int
	NameNodeHTTP   int
	DataNode       int
	DataNodeHTTP   int
	DataNodeIPC    int
	Metastore      int
	HiveServer2    int
	HiveServer2Web int
}

// Ports are taken in blocks below the range from which kernels pick ports of outgoing connections: some daemons bind
// theirs many seconds after the choice.
const (
	portsFrom   = 20000
	portsBlock  = 10
	portsBlocks = 1200
)

// freePorts picks a block of which no port is in use; so two stacks choosing at one time rarely meet, and a stack that
// is up keeps its whole block.
func freePorts() (ports, error) {
	for range 100 {
		n, err := rand.Int(rand.Reader, big.NewInt(portsBlocks))
		if err != nil {
			return ports{}, fmt.Errorf("choose ports: %w", err)
		}
		p := portsFrom + int(n.Int64())*portsBlock
		if blockFree(p) {
			return ports{p, p + 1, p + 2, p + 3, p + 4, p + 5, p + 6, p + 7, p + 8}, nil
		}
	}
	return ports{}, errors.New("choose ports: no block of ten free ports found in 100 tries")
}

func blockFree(from int) bool {
	for p := from; p < from+portsBlock; p++ {
		l, err := net.Listen("tcp", local(p))
		if err != nil {
			return false
		}
		l.Close()
	}
	return true
}

// local is the address of a port on this machine.
func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// newState is a stack of which nothing runs yet.
func newState(digest string) (state, error) {
	p, err := freePorts()
	if err != nil {
		return state{}, err
	}
	return state{Digest: digest, Ports: p, HivePassword: rand.Text(), Daemons: map[string]process{}}, nil
}

// readState returns the zero state when there is none.
func readState(dir string) (state, error) {
	b, err := os.ReadFile(filepath.Join(dir, "state.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, nil
	}
	if err != nil {
		return state{}, fmt.Errorf("read state: %w", err)
	}
	var s state
	if err := json.Unmarshal(b, &s); err != nil {
		return state{}, fmt.Errorf("read state in %s: %w; stop the daemons it lists and remove the folder", dir, err)
	}
	return s, nil
}

// write replaces the file at once: readers need no lock. It holds passwords.
func (s state) write(dir string) error {
	b, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	return replaceFile(filepath.Join(dir, "state.json"), append(b, '\n'), 0o600)
}

// replaceFile writes beside path and renames.
func replaceFile(path string, content []byte, mode fs.FileMode) error {
	part := path + ".part"
	if err := os.WriteFile(part, content, mode); err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	if err := os.Rename(part, path); err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return nil
}

// anyAlive says whether a daemon of the stack runs.
func (s state) anyAlive() bool {
	for _, p := range s.Daemons {
		if p.alive() {
			return true
		}
	}
	return false
}
