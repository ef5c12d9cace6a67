package kernel

// The products and transpositions in plain Go: for machines without the assembly, and
// as the reference of its tests. They are written for the code that Go's compiler
// makes: slices of one known length need no bounds checks, and what depends on
// a number's sign is chosen without a jump, which would be mispredicted half
// the time.

// at returns the part of a frame that starts at an operand.
func at[T Float](frame [][]T, o Operand) []T { return frame[o.Slice][o.Offset:] }

// product carries out a product, two rows of C at a time, in blocks of columns that stay
// in the first-level cache. If one row is left, it is computed twice and stored once, so
// that there is one form of the inner loops.
//
// Its sums are in another order than the assembly's: results agree to rounding, not to
// the bit.
func product[T Float](frame [][]T, q *Product) {
	if q.Form == ByColumns {
		dots(frame, q)
		return
	}
	const block = 128 // columns: two rows of float64 are 2 KB
	var acc [2][block]T
	for m := 0; m < q.M; m += 2 {
		rows := [2]int{m, min(m+1, q.M-1)}
		for n := 0; n < q.N; n += block {
			x, y := acc[0][:min(block, q.N-n)], acc[1][:min(block, q.N-n)]
			clear(x)
			clear(y)
			for i := range q.Terms {
				accumulate(x, y, frame, &q.Terms[i], rows, n)
			}
			finish(x, frame, q, q.CRow*rows[0]+n)
			if rows[1] != rows[0] {
				finish(y, frame, q, q.CRow*rows[1]+n)
			}
		}
	}
}

// accumulate adds columns n, n+1, … of two rows of a term to x and y, four
// rows of B at a time. In place of rows beyond the last it takes 0 times the last, so
// that addRows has one form.
func accumulate[T Float](x, y []T, frame [][]T, t *Term, rows [2]int, n int) {
	a, b := at(frame, t.A), at(frame, t.B)
	var v, w [4]T
	var row [4][]T
	for k := 0; k < t.K; k += 4 {
		for i := range row {
			if k+i < t.K {
				v[i], w[i] = a[rows[0]*t.ARow+(k+i)*t.ACol], a[rows[1]*t.ARow+(k+i)*t.ACol]
				row[i] = b[(k+i)*t.BRow+n:]
				continue
			}
			// k < t.K here, so that i > 0 and there is a row before.
			v[i], w[i], row[i] = 0, 0, row[i-1]
		}
		addRows(x, y, &v, &w, row[0], row[1], row[2], row[3])
	}
}

// addRows adds Σ v_i b_i to x and Σ w_i b_i to y, over four rows b_i of B. The eight
// factors and the operands of one column fit 16 registers.
func addRows[T Float](x, y []T, v, w *[4]T, b0, b1, b2, b3 []T) {
	n := len(x)
	y, b0, b1, b2, b3 = y[:n], b0[:n], b1[:n], b2[:n], b3[:n]
	v0, v1, v2, v3 := v[0], v[1], v[2], v[3]
	w0, w1, w2, w3 := w[0], w[1], w[2], w[3]
	for i := range x {
		b := b0[i]
		s, t := x[i]+v0*b, y[i]+w0*b
		b = b1[i]
		s += v1 * b
		t += w1 * b
		b = b2[i]
		s += v2 * b
		t += w2 * b
		b = b3[i]
		s += v3 * b
		t += w3 * b
		x[i], y[i] = s, t
	}
}

// finish stores the sums x, scaled and after the epilogue, as the elements of C from an
// offset on. C and H may be the same: each element is read before it is written.
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
		// Indexing by the comparison's result costs no jump.
		var choice [2]T
		for i, v := range x {
			choice[1] = s * v
			positive := 0
			if h[i] > 0 {
				positive = 1
			}
			c[i] = choice[positive]
		}
	case Add:
		for i, v := range x {
			c[i] = s*v + h[i]
		}
	}
}

// transpose carries out a transposition, four rows of S at a time, whose elements of a
// column are one store in D.
func transpose[T Float](frame [][]T, q *Transpose) {
	s, d := at(frame, q.S), at(frame, q.D)
	m := 0
	for ; m+4 <= q.M; m += 4 {
		s0, s1 := s[m*q.SRow:][:q.N], s[(m+1)*q.SRow:][:q.N]
		s2, s3 := s[(m+2)*q.SRow:][:q.N], s[(m+3)*q.SRow:][:q.N]
		for n := range s0 {
			*(*[4]T)(d[n*q.DRow+m:]) = [4]T{s0[n], s1[n], s2[n], s3[n]}
		}
	}
	for ; m < q.M; m++ { // the last one to three rows
		for n, x := range s[m*q.SRow:][:q.N] {
			d[n*q.DRow+m] = x
		}
	}
}

// dots carries out a product by columns, each element of C one or two inner products.
func dots[T Float](frame [][]T, q *Product) {
	for m := range q.M {
		// Products by columns have one or two: see Form.
		var x [2]T
		for i := range q.Terms {
			t := &q.Terms[i]
			a, b := at(frame, t.A)[m*t.ARow:][:t.K], at(frame, t.B)
			for n := range q.N {
				x[n] += inner(a, b[n*t.BRow:][:t.K])
			}
		}
		finish(x[:q.N], frame, q, q.CRow*m)
	}
}

// inner is an inner product in four partial sums, which the processor adds to in parallel.
func inner[T Float](a, b []T) T {
	var x0, x1, x2, x3 T
	for len(a) >= 4 && len(b) >= 4 {
		x0 += a[0] * b[0]
		x1 += a[1] * b[1]
		x2 += a[2] * b[2]
		x3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i, v := range a {
		x0 += v * b[i]
	}
	return (x0 + x1) + (x2 + x3)
}
