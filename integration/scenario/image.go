package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/store"
)

// Columns are the columns of the table, in its order.
var Columns = []string{"SEQ", "INSP_DT", "AMOUNT", "GRADE", "NOTE", "CREATED_AT", "INSPECTOR", "RATIO", "CLOSED_AT"}

// Image is what the table held for the scenario's date at an SCN: a line a row, sorted, values as Canonical writes them,
// joined by "|". It comes from the stand-in's journal, which knows nothing of how the stand-in answers queries.
func (w *World) Image(scn string) ([]string, error) {
	n, err := strconv.ParseUint(scn, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("read SCN %q: %w", scn, err)
	}
	image, err := w.Oracle.Database().Store().Journal().Image(store.Name{Owner: Owner, Table: "INSP_DTL"}, n)
	if err != nil {
		return nil, err
	}
	rows, err := image.Text(Columns...)
	if err != nil {
		return nil, err
	}
	day := slices.Index(Columns, "INSP_DT")
	var lines []string
	for _, row := range rows {
		if strings.HasPrefix(row[day], Date) {
			lines = append(lines, Line(row))
		}
	}
	slices.Sort(lines)
	return lines, nil
}

// Line joins the values of a row, each as Canonical writes it.
func Line(row []string) string {
	out := make([]string, len(row))
	for i, v := range row {
		out[i] = Canonical(v)
	}
	return strings.Join(out, "|")
}

// Null is how a NULL stands in a line.
const Null = ora.NullText

// Canonical makes equal what two readers write differently without meaning anything by it: zeros behind the last digit
// of a fraction.
func Canonical(v string) string {
	head, fraction, ok := strings.Cut(v, ".")
	if !ok || strings.Trim(fraction, "0123456789") != "" || strings.Trim(head, "-+: 0123456789") != "" {
		return v
	}
	if fraction = strings.TrimRight(fraction, "0"); fraction == "" {
		return head
	}
	return head + "." + fraction
}
