package sql

import "github.com/loadctl/loadctl/integration/orasim/ora"

// statement is a parsed statement: what it is and how many placeholders it has.
type statement struct {
	kind  ora.Kind
	body  any // one of the types below, or *selectStmt
	binds []string
}

type (
	insertStmt struct {
		target  *tableRef
		columns []string
		at      []int // of the columns, for errors
		values  []node
		sel     *selectStmt
	}
	updateStmt struct {
		target *tableRef
		sets   []assignment
		where  node
	}
	assignment struct {
		loc
		column string
		x      node // nil: DEFAULT
	}
	deleteStmt struct {
		target *tableRef
		where  node
	}

	createTable struct {
		name         qualified
		columns      []columnDef
		constraints  []constraintDef
		as           *selectStmt
		generator    *generatorDef
		partitions   *partitionBy
		rowMovement  bool
		organization string     // INDEX, TEMPORARY, EXTERNAL
		duration     string     // TEMPORARY: SYS$SESSION or SYS$TRANSACTION
		of           *qualified // object table: its type
	}
	columnDef struct {
		loc
		name        string
		typ         ora.Type
		typed       bool // false: ALTER TABLE MODIFY that leaves the type, or CREATE TABLE AS
		byDefault   node
		defaultText string
		null        *bool     // nil: not said
		foreign     qualified // a type whose values are not known
		virtual     bool      // byDefault is how it is computed
		identity    string    // ALWAYS or BY DEFAULT
		start       int       // of an identity
		onNull      bool      // an identity or default also where NULL is given
		visible     *bool     // nil: not said
		constraints []constraintDef
	}
	constraintDef struct {
		loc
		name    string // "": the system names it
		typ     string // P, U
		columns []string
	}
	createView struct {
		name    qualified
		replace bool
		columns []string
		sel     *selectStmt
		text    string
	}
	createIndex struct {
		name, table qualified
		columns     []string
		unique      bool
	}
	createSynonym struct {
		name, target    qualified
		public, replace bool
	}
	createUser struct {
		name, password string
		alter          bool
		lock           *bool
	}
	dropObject struct {
		kind objectKind
		name qualified
		user bool // DROP USER
	}
	truncateTable struct{ name qualified }
	alterTable    struct {
		name   qualified
		add    []columnDef
		modify []columnDef
		keys   []constraintDef
	}
	grantStmt struct {
		revoke     bool
		privileges []string
		on         *qualified // nil: system privileges and roles
		grantees   []string
		option     bool // WITH GRANT or ADMIN OPTION
	}
	alterSession struct{ sets []setting }
	setting      struct {
		loc
		name, value string
	}
	killSession struct{ sid, serial uint32 }
	commitStmt  struct{}
	rollbackTo  struct{ savepoint string } // "": all
	savepoint   struct{ name string }
	nothing     struct{} // accepted without effect: SET TRANSACTION READ WRITE, COMMENT ON, ...
	block       struct { // an anonymous PL/SQL block of known calls
		loc
		calls []procedureCall
	}
	procedureCall struct {
		loc
		name string
		args []argument
	}
	argument struct {
		name string // "": by position
		x    node
	}
)

// qualified is a name with an optional schema.
type qualified struct {
	loc
	schema, name string
}
