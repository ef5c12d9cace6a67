package integrators

// replay hands out given numbers as noise, one after another.
type replay struct {
	xi []float64
	at int
}

func (n *replay) next(length int) []float64 {
	n.at += length
	return n.xi[n.at-length : n.at]
}

func (n *replay) Normal(dst []float64) { copy(dst, n.next(len(dst))) }

func (n *replay) Update(u *Update) { u.Apply(n.next(len(u.R))) }
