package config

// nearest is the candidate that a person most likely meant, "" when none is near: at most a third of the
// letters differ, a swap of neighbours counting once and a difference of case nothing but first place.
func nearest(word string, candidates []string) string {
	w := fold(word)
	if len(w) > maxSuggested {
		return ""
	}
	best, least := "", max(1, len(w)/3)+1
	for _, c := range candidates {
		if d := distance(w, fold(c)); d < least {
			best, least = c, d
		}
	}
	return best
}

// maxSuggested is the longest word that gets a suggestion; nothing that we know is nearly as long.
const maxSuggested = 64

func fold(s string) []rune {
	out := []rune(s)
	for i, r := range out {
		switch {
		case r >= 'A' && r <= 'Z':
			out[i] = r + 'a' - 'A'
		case r == '-':
			out[i] = '_'
		}
	}
	return out
}

// distance is the number of insertions, deletions, replacements and swaps of neighbours between two words
// (optimal string alignment).
func distance(a, b []rune) int {
	before, last := []int(nil), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
