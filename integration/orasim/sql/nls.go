package sql

import (
	"context"
	"errors"
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// nls is the session's formats. decimal and group are the two characters of NLS_NUMERIC_CHARACTERS.
type nls struct {
	date, timestamp, timestampTZ string
	decimal, group               byte
	others                       map[string]string // the parameters that only NLS_SESSION_PARAMETERS shows
}

func defaultNLS() nls {
	return nls{
		date:        "DD-MON-RR",
		timestamp:   "DD-MON-RR HH.MI.SSXFF AM",
		timestampTZ: "DD-MON-RR HH.MI.SSXFF AM TZR",
		decimal:     '.', group: ',',
		others: map[string]string{
			"NLS_LANGUAGE": "AMERICAN", "NLS_TERRITORY": "AMERICA", "NLS_CURRENCY": "$",
			"NLS_ISO_CURRENCY": "AMERICA", "NLS_CALENDAR": "GREGORIAN", "NLS_DATE_LANGUAGE": "AMERICAN",
			"NLS_SORT": "BINARY", "NLS_COMP": "BINARY", "NLS_LENGTH_SEMANTICS": "BYTE",
			"NLS_NCHAR_CONV_EXCP": "FALSE", "NLS_DUAL_CURRENCY": "$",
			"NLS_TIME_FORMAT": "HH.MI.SSXFF AM", "NLS_TIME_TZ_FORMAT": "HH.MI.SSXFF AM TZR",
		},
	}
}

// set changes a parameter; the values that would change results in ways that are not implemented are refused.
func (n *nls) set(s setting) error {
	switch s.name {
	case "NLS_DATE_FORMAT", "NLS_TIMESTAMP_FORMAT", "NLS_TIMESTAMP_TZ_FORMAT":
		return n.setFormat(s)
	case "NLS_NUMERIC_CHARACTERS":
		if len(s.value) != 2 || s.value[0] == s.value[1] || isDigit(s.value[0]) || isDigit(s.value[1]) {
			return errAt(s.at(), 12705, "Cannot access NLS data files or invalid environment specified")
		}
		n.decimal, n.group = s.value[0], s.value[1]
		return nil
	case "NLS_SORT", "NLS_COMP":
		if !strings.EqualFold(s.value, "BINARY") {
			return errAt(s.at(), 3001, "unimplemented feature: %s other than BINARY", s.name)
		}
	case "NLS_LANGUAGE", "NLS_DATE_LANGUAGE":
		if !strings.EqualFold(s.value, "AMERICAN") && !strings.EqualFold(s.value, "ENGLISH") {
			return errAt(s.at(), 3001, "unimplemented feature: %s other than AMERICAN", s.name)
		}
	case "NLS_LENGTH_SEMANTICS":
		if !strings.EqualFold(s.value, "BYTE") {
			return errAt(s.at(), 3001, "unimplemented feature: NLS_LENGTH_SEMANTICS other than BYTE")
		}
	case "NLS_TERRITORY", "NLS_CURRENCY", "NLS_ISO_CURRENCY", "NLS_CALENDAR", "NLS_NCHAR_CONV_EXCP",
		"NLS_DUAL_CURRENCY", "NLS_TIME_FORMAT", "NLS_TIME_TZ_FORMAT":
	default:
		return errAt(s.at(), 2248, "invalid option for ALTER SESSION")
	}
	others := make(map[string]string, len(n.others))
	for k, v := range n.others {
		others[k] = v
	}
	others[s.name] = s.value
	n.others = others
	return nil
}

func (n *nls) setFormat(s setting) error {
	if _, err := compileDateFormat(s.value); err != nil {
		return err
	}
	switch s.name {
	case "NLS_DATE_FORMAT":
		n.date = s.value
	case "NLS_TIMESTAMP_FORMAT":
		n.timestamp = s.value
	default:
		n.timestampTZ = s.value
	}
	return nil
}

// parameters is what NLS_SESSION_PARAMETERS shows.
func (n *nls) parameters() map[string]string {
	all := map[string]string{
		"NLS_DATE_FORMAT": n.date, "NLS_TIMESTAMP_FORMAT": n.timestamp, "NLS_TIMESTAMP_TZ_FORMAT": n.timestampTZ,
		"NLS_NUMERIC_CHARACTERS": string([]byte{n.decimal, n.group}),
	}
	for k, v := range n.others {
		all[k] = v
	}
	return all
}

// asOra gives any error of a conversion or of the store its ORA code.
func asOra(err error) *ora.Error {
	var e *ora.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, ora.ErrInvalidNumber):
		return ora.Errorf(1722, "invalid number")
	case errors.Is(err, ora.ErrOverflow):
		return ora.Errorf(1426, "numeric overflow")
	case errors.Is(err, ora.ErrDivideByZero):
		return ora.Errorf(1476, "divisor is equal to zero")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return ora.Errorf(1013, "user requested cancel of current operation")
	}
	return ora.Errorf(600, "internal error code, arguments: [%v]", err)
}
