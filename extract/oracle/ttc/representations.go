package ttc

// representation says as which type, and in which form, values of a type travel. as 0: not at all.
type representation struct{ from, as, form int }

// typeRun is a run of types from..last that stay themselves, or (last 0) one type that travels as another.
type typeRun struct{ from, last, as, form int }

// Forms. Numbers of the client's own machine travel in Oracle's form.
const (
	universal = 1
	oracle    = 10
)

// runs is the list of types that we know by name, byte for byte what go-ora sends.
func runs() []typeRun {
	same := func(from, last int) typeRun { return typeRun{from: from, last: last, form: universal} }
	as := func(from, as, form int) typeRun { return typeRun{from: from, as: as, form: form} }
	none := func(from int) typeRun { return typeRun{from: from} }
	return []typeRun{
		same(1, 1), as(2, 2, oracle), same(8, 8), as(12, 12, oracle), same(23, 33), same(10, 11), same(40, 41), same(117, 117), same(120, 120),
		same(290, 294), same(298, 313), same(315, 323), same(327, 329), same(331, 331), same(333, 346), same(348, 349), same(354, 355), same(359, 359),
		same(363, 363), same(380, 391), same(393, 401), same(404, 407), same(413, 427), same(429, 433), same(449, 450), same(454, 463), same(466, 486),
		same(490, 496), same(498, 502), same(509, 510), same(513, 514), same(516, 543), same(560, 560), same(565, 565), same(572, 576), same(578, 578),
		same(563, 564), same(579, 585), as(3, 2, oracle), as(4, 2, oracle), as(5, 1, universal), as(6, 2, oracle), as(7, 2, oracle), as(9, 1, universal),
		as(15, 1, universal), as(39, 120, universal), none(58), as(68, 2, oracle), none(69), none(70), none(74), none(76), as(91, 2, oracle),
		as(94, 1, universal), as(95, 23, universal), same(96, 96), as(97, 96, universal), same(100, 102), as(104, 11, universal), none(105), same(106, 106),
		as(108, 109, universal), same(109, 109), as(110, 111, universal), same(111, 115), as(116, 102, universal), none(118), as(119, 119, 0), none(121),
		none(122), none(123), same(127, 127), none(136), same(146, 146), none(147), as(152, 2, oracle), as(153, 2, oracle), as(154, 2, oracle),
		as(155, 1, universal), as(156, 12, oracle), as(172, 2, oracle), same(178, 183), as(184, 12, oracle), same(185, 190), none(191), none(192),
		as(195, 112, universal), as(196, 113, universal), as(197, 114, universal), same(208, 208), none(209), same(231, 231), as(232, 231, universal),
		same(233, 233), same(252, 252), as(241, 109, universal), none(515),
		same(590, 592), same(613, 616), same(611, 612), same(593, 605), same(622, 632), same(637, 638), same(636, 636),
		same(639, 640),
	}
}

// representations is the list for a field version: older servers get it without its newest types.
func representations(fieldVersion int) []representation {
	var out []representation
	for _, r := range runs() {
		if r.from == 590 && fieldVersion < 7 {
			break
		}
		if r.last == 0 {
			out = append(out, representation{r.from, r.as, r.form})
		}
		for t := r.from; t <= r.last; t++ {
			out = append(out, representation{t, t, r.form})
		}
	}
	return out
}
