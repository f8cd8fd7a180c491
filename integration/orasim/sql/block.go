package sql

import (
	"fmt"
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// procedure is a packaged procedure that a PL/SQL block may call.
type procedure struct {
	params []string
	needed int
	run    func(s *Session, args []*string)
}

// procedures are the calls that clients send to say who they are.
func procedures() map[string]procedure {
	return map[string]procedure{
		"DBMS_APPLICATION_INFO.SET_MODULE": {[]string{"MODULE_NAME", "ACTION_NAME"}, 2, func(s *Session, a []*string) {
			s.SetEndToEnd(a[0], a[1], nil, nil)
		}},
		"DBMS_APPLICATION_INFO.SET_ACTION": {[]string{"ACTION_NAME"}, 1, func(s *Session, a []*string) {
			s.SetEndToEnd(nil, a[0], nil, nil)
		}},
		"DBMS_APPLICATION_INFO.SET_CLIENT_INFO": {[]string{"CLIENT_INFO"}, 1, func(s *Session, a []*string) {
			s.SetEndToEnd(nil, nil, nil, a[0])
		}},
		"DBMS_SESSION.SET_IDENTIFIER": {[]string{"CLIENT_ID"}, 1, func(s *Session, a []*string) {
			s.SetEndToEnd(nil, nil, a[0], nil)
		}},
		"DBMS_SESSION.CLEAR_IDENTIFIER": {nil, 0, func(s *Session, _ []*string) {
			empty := ""
			s.SetEndToEnd(nil, nil, &empty, nil)
		}},
		"DBMS_OUTPUT.ENABLE":  {[]string{"BUFFER_SIZE"}, 0, func(*Session, []*string) {}},
		"DBMS_OUTPUT.DISABLE": {nil, 0, func(*Session, []*string) {}},
	}
}

// compiledCall is a call with its arguments in the order of the parameters; nil where one is left out.
type compiledCall struct {
	run  func(s *Session, args []*string)
	args []*expr
}

func (c *compiler) calls(b *block) ([]compiledCall, error) {
	known := procedures()
	var list []compiledCall
	for _, call := range b.calls {
		proc, ok := known[strings.TrimPrefix(call.name, "SYS.")]
		if !ok {
			return nil, blockError(call.at(), fmt.Sprintf("PLS-00201: identifier '%s' must be declared", call.name))
		}
		args, err := c.arguments(call, proc)
		if err != nil {
			return nil, err
		}
		list = append(list, compiledCall{proc.run, args})
	}
	return list, nil
}

func blockError(pos int, text string) error {
	return errAt(pos, 6550, "line 1, column %d:\n%s", pos+1, text)
}

func (c *compiler) arguments(call procedureCall, proc procedure) ([]*expr, error) {
	wrong := blockError(call.at(), fmt.Sprintf("PLS-00306: wrong number or types of arguments in call to '%s'", call.name))
	args := make([]*expr, len(proc.params))
	for i, a := range call.args {
		at := i
		if a.name != "" {
			at = -1
			for k, p := range proc.params {
				if p == a.name {
					at = k
				}
			}
		}
		if at < 0 || at >= len(args) || args[at] != nil {
			return nil, wrong
		}
		e, err := c.exprAs(a.x, classText)
		if err != nil {
			return nil, err
		}
		args[at] = &e
	}
	for i := range proc.needed {
		if args[i] == nil {
			return nil, wrong
		}
	}
	return args, nil
}

// block runs the calls of a PL/SQL block.
func (st *Statement) block(x *execution, binds []ora.Bind) error {
	if err := st.fresh(binds); err != nil {
		return err
	}
	f := frame{x: x}
	for _, call := range st.calls {
		args := make([]*string, len(call.args))
		for i, e := range call.args {
			if e == nil {
				continue
			}
			v, err := e.eval(&f)
			if err != nil {
				return err
			}
			s := string(v)
			args[i] = &s
		}
		call.run(st.ses, args)
	}
	return nil
}
