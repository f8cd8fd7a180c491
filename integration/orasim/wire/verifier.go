package wire

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
	"strings"
	"sync"
)

// Verifier is the kind of password hash that a server keeps.
type Verifier int

// Verifiers, by Oracle's own numbers.
const (
	Verifier11g Verifier = 6949  // SHA-1
	Verifier12c Verifier = 18453 // PBKDF2 and SHA-512
)

const (
	keyGenerations  = 4096 // AUTH_PBKDF2_VGEN_COUNT
	comboIterations = 3    // AUTH_PBKDF2_SDER_COUNT
	sessionKeyLen   = 32   // 48 would select the MD5 combination of old servers
)

// errPassword is every way in which the proof of the password fails.
var errPassword = errors.New("check password: it does not match")

// secret is what a server stores for one user: the salt and the key derived from the password.
type secret struct {
	kind     Verifier
	salt     []byte
	key      []byte // encrypts the session keys
	password string
}

func newSecret(kind Verifier, password string) (*secret, error) {
	v := &secret{kind: kind, password: password}
	if kind == Verifier11g {
		v.salt = random(10)
		h := sha1.Sum(append([]byte(password), v.salt...))
		v.key = append(h[:], 0, 0, 0, 0)
		return v, nil
	}
	v.salt = random(16)
	salt := append(append([]byte{}, v.salt...), "AUTH_PBKDF2_SPEEDY_KEY"...)
	speedy, err := pbkdf2.Key(sha512.New, password, salt, keyGenerations, 64)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	h := sha512.Sum512(append(speedy, v.salt...))
	v.key = h[:32]
	return v, nil
}

// secrets keeps one secret a user, as a server does; deriving a key costs milliseconds.
type secrets struct {
	mu   sync.Mutex
	byID map[string]*secret
}

func (s *secrets) of(kind Verifier, user, password string) (*secret, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.byID[user]; v != nil && v.password == password {
		return v, nil
	}
	v, err := newSecret(kind, password)
	if err != nil {
		return nil, err
	}
	if s.byID == nil {
		s.byID = map[string]*secret{}
	}
	s.byID[user] = v
	return v, nil
}

// challenge is one login: O5LOGON from the server's side.
type challenge struct {
	*secret
	serverKey []byte // ours, in the clear
	comboSalt []byte
}

func newChallenge(v *secret) *challenge {
	return &challenge{secret: v, serverKey: random(sessionKeyLen), comboSalt: random(16)}
}

// sessionKey is AUTH_SESSKEY of the first phase.
func (c *challenge) sessionKey() string { return hexUpper(encrypt(c.key, c.serverKey)) }

// verify checks AUTH_SESSKEY and AUTH_PASSWORD of the second phase and returns AUTH_SVR_RESPONSE, by which
// the client checks us.
func (c *challenge) verify(sessionKey, password string) (string, error) {
	combo, err := c.combine(sessionKey)
	if err != nil {
		return "", err
	}
	sealed, err := hex.DecodeString(password)
	if err != nil || len(sealed) < 2*aes.BlockSize || len(sealed)%aes.BlockSize != 0 {
		return "", errPassword
	}
	clear := decrypt(combo, sealed)
	pad := int(clear[len(clear)-1])
	if pad < 1 || pad > aes.BlockSize || len(clear)-pad < aes.BlockSize {
		return "", errPassword
	}
	given := clear[aes.BlockSize : len(clear)-pad]
	if subtle.ConstantTimeCompare(given, []byte(c.password)) != 1 {
		return "", errPassword
	}
	answer := append(random(aes.BlockSize), "SERVER_TO_CLIENT"...)
	for range aes.BlockSize {
		answer = append(answer, aes.BlockSize) // PKCS7
	}
	return hexUpper(encrypt(combo, answer)), nil
}

// combine makes the key that both sides share from the two session keys.
func (c *challenge) combine(sessionKey string) ([]byte, error) {
	n := 32
	if c.kind == Verifier11g {
		n = 24
	}
	sealed, err := hex.DecodeString(sessionKey)
	if err != nil || len(sealed) < n || len(sealed)%aes.BlockSize != 0 {
		return nil, errPassword
	}
	client := decrypt(c.key, sealed)
	both := append(append([]byte{}, client[:n]...), c.serverKey[:n]...)
	combo, err := pbkdf2.Key(sha512.New, hexUpper(both), c.comboSalt, comboIterations, n)
	if err != nil {
		return nil, fmt.Errorf("combine session keys: %w", err)
	}
	return combo, nil
}

func hexUpper(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) }

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return b
}

func encrypt(key, in []byte) []byte {
	return crypt(key, in, cipher.NewCBCEncrypter)
}

func decrypt(key, in []byte) []byte {
	return crypt(key, in, cipher.NewCBCDecrypter)
}

// crypt is AES-CBC with a zero IV, as O5LOGON wants it. Keys are made here, so their lengths are right.
func crypt(key, in []byte, mode func(cipher.Block, []byte) cipher.BlockMode) []byte {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	out := make([]byte, len(in))
	mode(block, make([]byte, aes.BlockSize)).CryptBlocks(out, in)
	return out
}
