package ttc

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Password verifiers that servers keep.
const (
	verifier11g = 6949
	verifier12c = 18453
)

const (
	sessionKeyLen = 32 // of the verifiers we know; older ones have 48 bytes
	mostRounds    = 1_000_000
)

// ErrNoProof: what answers does not know the password, so it is not the server.
var ErrNoProof = errors.New("the server did not prove that it knows the password: something else may answer for it")

// proof is our answer to the server's challenge, and the key that its own proof must be sealed with.
type proof struct {
	key                          []byte
	sessionKey, password, speedy string
}

// challenge is what the first reply of a login holds.
type challenge struct {
	verifier          int64
	salt, key, shared []byte
	rounds            int // for the verifier's key
	sharedRounds      int // for the shared key
}

func parseChallenge(reply map[string]setting) (challenge, error) {
	c := challenge{verifier: reply["AUTH_VFR_DATA"].flags}
	if c.verifier != verifier11g && c.verifier != verifier12c {
		return c, &UnsupportedError{What: fmt.Sprintf("with a password verifier of type %d", c.verifier)}
	}
	var errs [5]error
	c.salt, errs[0] = unhex(reply, "AUTH_VFR_DATA")
	c.key, errs[1] = unhex(reply, "AUTH_SESSKEY")
	c.shared, errs[2] = unhex(reply, "AUTH_PBKDF2_CSK_SALT")
	c.rounds, errs[3] = rounds(reply, "AUTH_PBKDF2_VGEN_COUNT", 4096)
	c.sharedRounds, errs[4] = rounds(reply, "AUTH_PBKDF2_SDER_COUNT", 3)
	if err := errors.Join(errs[:]...); err != nil {
		return c, err
	}
	if len(c.key) != sessionKeyLen {
		return c, &UnsupportedError{What: fmt.Sprintf("with a session key of %d bytes", len(c.key))}
	}
	return c, nil
}

func unhex(reply map[string]setting, name string) ([]byte, error) {
	b, err := hex.DecodeString(reply[name].value)
	if err != nil || len(b) == 0 {
		return nil, fmt.Errorf("%w: the login has no %s", ErrProtocol, name)
	}
	return b, nil
}

func rounds(reply map[string]setting, name string, usual int) (int, error) {
	if reply[name].value == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(reply[name].value)
	if err != nil || n < 1 || n > mostRounds {
		return 0, fmt.Errorf("%w: the login has a %s of %.20q", ErrProtocol, name, reply[name].value)
	}
	return n, nil
}

// answer computes the proof.
func answer(reply map[string]setting, password string) (*proof, error) {
	c, err := parseChallenge(reply)
	if err != nil {
		return nil, err
	}
	key, speedy, err := c.verifierKey(password)
	if err != nil {
		return nil, err
	}
	theirs, err := unseal(key, c.key)
	if err != nil {
		return nil, err
	}
	ours := random(sessionKeyLen)
	p := &proof{}
	if p.key, err = c.sharedKey(len(key), ours, theirs); err != nil {
		return nil, err
	}
	return p, p.seal(key, ours, password, speedy)
}

// verifierKey is the key that both sides derive from the password. speedy spares a 12c server its own derivation.
func (c challenge) verifierKey(password string) (key, speedy []byte, err error) {
	if c.verifier == verifier11g {
		h := sha1.Sum(append([]byte(password), c.salt...))
		return append(h[:], 0, 0, 0, 0), nil, nil
	}
	salt := append(append([]byte(nil), c.salt...), "AUTH_PBKDF2_SPEEDY_KEY"...)
	speedy, err = pbkdf2.Key(sha512.New, password, salt, c.rounds, 64)
	if err != nil {
		return nil, nil, err
	}
	h := sha512.Sum512(append(append([]byte(nil), speedy...), c.salt...))
	return h[:32], speedy, nil
}

// sharedKey is made of what either side drew.
func (c challenge) sharedKey(n int, ours, theirs []byte) ([]byte, error) {
	mixed := strings.ToUpper(hex.EncodeToString(ours[:n]) + hex.EncodeToString(theirs[:n]))
	return pbkdf2.Key(sha512.New, mixed, c.shared, c.sharedRounds, n)
}

func (p *proof) seal(key, ours []byte, password string, speedy []byte) error {
	var errs [3]error
	p.sessionKey, errs[0] = sealed(key, ours)
	p.password, errs[1] = sealed(p.key, padded(append(random(aes.BlockSize), password...)))
	if speedy != nil {
		p.speedy, errs[2] = sealed(p.key, append(random(aes.BlockSize), speedy...))
	}
	return errors.Join(errs[:]...)
}

// check looks at the server's own proof.
func (p *proof) check(response string) error {
	b, err := hex.DecodeString(response)
	if err != nil || len(b) < 2*aes.BlockSize || len(b)%aes.BlockSize != 0 {
		return ErrNoProof
	}
	plain, err := unseal(p.key, b)
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(plain[aes.BlockSize:2*aes.BlockSize], []byte("SERVER_TO_CLIENT")) != 1 {
		return ErrNoProof
	}
	return nil
}

// random draws n bytes; crypto/rand never fails.
func random(n int) []byte {
	b := make([]byte, n, 2*n+64)
	rand.Read(b)
	return b
}

// padded fills the last block as PKCS #7 does.
func padded(b []byte) []byte {
	n := aes.BlockSize - len(b)%aes.BlockSize
	for range n {
		b = append(b, byte(n))
	}
	return b
}

func sealed(key, plain []byte) (string, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return "", err
	}
	out := make([]byte, len(plain))
	cipher.NewCBCEncrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(out, plain)
	return strings.ToUpper(hex.EncodeToString(out)), nil
}

func unseal(key, secret []byte) ([]byte, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	if len(secret)%aes.BlockSize != 0 {
		return nil, fmt.Errorf("%w: a sealed value of %d bytes", ErrProtocol, len(secret))
	}
	out := make([]byte, len(secret))
	cipher.NewCBCDecrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(out, secret)
	return out, nil
}
