package ttc

import (
	"errors"
	"strings"
	"testing"
)

// challenged is what a server of either verifier sends, with a key that it did not make from the password.
func challenged(verifier int64) map[string]setting {
	return map[string]setting{
		"AUTH_VFR_DATA":        {strings.Repeat("0A", 16), verifier},
		"AUTH_SESSKEY":         {strings.Repeat("1B", sessionKeyLen), 0},
		"AUTH_PBKDF2_CSK_SALT": {strings.Repeat("2C", 16), 0},
	}
}

func TestServerMustProve(t *testing.T) {
	for _, verifier := range []int64{verifier11g, verifier12c} {
		p, err := answer(challenged(verifier), "tiger")
		if err != nil {
			t.Fatal(err)
		}
		good, err := sealed(p.key, append(random(16), "SERVER_TO_CLIENT\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10"...))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.check(good); err != nil {
			t.Errorf("verifier %d: %v", verifier, err)
		}
		other, err := answer(challenged(verifier), "tiger")
		if err != nil {
			t.Fatal(err)
		}
		for name, response := range map[string]string{
			"none": "", "no hex": "xyz", "short": good[:32], "cut": good[:len(good)-2], "of another login": good,
		} {
			if err := other.check(response); !errors.Is(err, ErrNoProof) {
				t.Errorf("verifier %d, a proof that is %s: %v, want ErrNoProof", verifier, name, err)
			}
		}
	}
}

func TestChallengesRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(map[string]setting)
		is     func(error) bool
	}{
		"10g verifier":      {func(m map[string]setting) { m["AUTH_VFR_DATA"] = setting{m["AUTH_VFR_DATA"].value, 2361} }, unsupported},
		"key of 48 bytes":   {func(m map[string]setting) { m["AUTH_SESSKEY"] = setting{strings.Repeat("1B", 48), 0} }, unsupported},
		"no salt":           {func(m map[string]setting) { delete(m, "AUTH_PBKDF2_CSK_SALT") }, protocol},
		"salt is no hex":    {func(m map[string]setting) { m["AUTH_PBKDF2_CSK_SALT"] = setting{"zz", 0} }, protocol},
		"rounds for ever":   {func(m map[string]setting) { m["AUTH_PBKDF2_VGEN_COUNT"] = setting{"2000000000", 0} }, protocol},
		"rounds below none": {func(m map[string]setting) { m["AUTH_PBKDF2_SDER_COUNT"] = setting{"-3", 0} }, protocol},
	} {
		reply := challenged(verifier12c)
		c.change(reply)
		if _, err := answer(reply, "tiger"); !c.is(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func unsupported(err error) bool {
	var refused *UnsupportedError
	return errors.As(err, &refused)
}

func protocol(err error) bool { return errors.Is(err, ErrProtocol) }
