package kernel

// The plain Go twins of the assembly: for machines without it, and as the
// reference of its tests.

// at returns the part of a frame that starts at an operand.
func at[T Float](frame [][]T, o Operand) []T { return frame[o.Slice][o.Offset:] }

// product works on a row of C in blocks that stay in the first-level cache.
func product[T Float](frame [][]T, q *Product) {
	const block = 64
	var acc [block]T
	for m := range q.M {
		for n := 0; n < q.N; n += block {
			x := acc[:min(block, q.N-n)]
			clear(x)
			for i := range q.Terms {
				accumulate(x, frame, &q.Terms[i], m, n)
			}
			finish(x, frame, q, q.CRow*m+n)
		}
	}
}

// accumulate adds columns n, n+1, … of row m of a term to x.
func accumulate[T Float](x []T, frame [][]T, t *Term, m, n int) {
	a, b := at(frame, t.A), at(frame, t.B)
	for k := range t.K {
		v := a[m*t.ARow+k*t.ACol]
		row := b[k*t.BRow+n:][:len(x)]
		for i := range x {
			x[i] += v * row[i]
		}
	}
}

// finish stores the elements of C from an offset on.
func finish[T Float](x []T, frame [][]T, q *Product, offset int) {
	c := at(frame, q.C)[offset:][:len(x)]
	var h []T
	if q.Epilogue == Mask || q.Epilogue == Add {
		h = at(frame, q.H)[offset:][:len(x)]
	}
	s := T(q.Scale)
	switch q.Epilogue {
	case Store:
		for i, v := range x {
			c[i] = s * v
		}
	case ReLU:
		for i, v := range x {
			c[i] = max(s*v, 0)
		}
	case Mask:
		for i, v := range x {
			if h[i] > 0 {
				c[i] = s * v
			} else {
				c[i] = 0
			}
		}
	case Add:
		for i, v := range x {
			c[i] = s*v + h[i]
		}
	}
}

func transpose[T Float](frame [][]T, q *Transpose) {
	s, d := at(frame, q.S), at(frame, q.D)
	for m := range q.M {
		for n := range q.N {
			d[n*q.DRow+m] = s[m*q.SRow+n]
		}
	}
}

func dots[T Float](frame [][]T, q *Dots) {
	for m := range q.M {
		for n := range q.N {
			dot(frame, q, m, n)
		}
	}
}

// dot is the element of row m and column n.
func dot[T Float](frame [][]T, q *Dots, m, n int) {
	var x T
	for i := range q.Terms {
		t := &q.Terms[i]
		a, b := at(frame, t.A)[m*t.ARow:][:t.K], at(frame, t.B)[n*t.BRow:][:t.K]
		for k, v := range a {
			x += v * b[k]
		}
	}
	x *= T(q.Scale)
	switch i := q.CRow*m + n; q.Epilogue {
	case Store:
		at(frame, q.C)[i] = x
	case Add:
		at(frame, q.C)[i] = x + at(frame, q.H)[i]
	}
}
