package minibatch

import (
	"math"
	"math/cmplx"
)

// Regime is which of two laws describes what mini-batches do to the stationary law of a chain
// (docs/theory.md).
type Regime string

const (
	// OrdersRegime is the law of orders: the potential is another one by an amount of order η²,
	// whatever the friction; where Kηω is above C/ω the rest of the heat, like η³/C, is more.
	OrdersRegime Regime = "orders"
	// HeatRegime is the law of heat: the temperature is higher by an amount that depends on the
	// step and the friction through η/C.
	HeatRegime Regime = "heat"
	// BetweenRegime is neither: random orders still remove a part of the heat.
	BetweenRegime Regime = "between"
)

// Regimes are all of them.
var Regimes = []Regime{OrdersRegime, BetweenRegime, HeatRegime}

// Bounds of the regimes, in lengths of an epoch beside what a chain remembers. At the second,
// random orders leave about a third or more of the heat of independent batches: where these differ
// by constant forces, 0.36 at C = ω to 0.56 at C ≪ ω (HeatLeft).
const (
	ordersBelow = 0.3
	heatFrom    = 3
)

// Regime returns the law that describes the error of mini-batches under the scheme at a step η
// with K batches: of orders if an epoch is short beside all that moves, Kη·max(ω, C) < 0.3; of
// heat if it is longer than positions remember, Kηω·min(1, ω/C) > 3, as that is 1/ω or, with more
// friction, C/ω². ω is the largest frequency, the square root of the largest eigenvalue of
// M^−½ ∇²U M^−½. A scheme that caps orders at 1, as independent batches do, is always under the
// law of heat. It is "" for K = 1, and where neither law is proven: of a scheme
// that states no cap, or another one for the joint law, as one order for ever does; without a
// frequency; and under full refreshment, C = ∞. The laws are those of gradients of the batches and
// of steps that answer to them (certify.ResponseOf), which is for callers to know.
func (m Scheme) Regime(k int, step, omega, friction float64) Regime {
	epoch := float64(k) * step * omega // in units of 1/ω
	switch {
	case k < 2 || m.Cap.Marginal == 0 || math.IsInf(m.Cap.Marginal, 1) ||
		m.Cap.Joint != m.Cap.Marginal || !(friction > 0) || !(epoch > 0) ||
		math.IsInf(epoch+friction, 0):
		return ""
	case m.Cap.Marginal == 1 || epoch*min(1, omega/friction) > heatFrom:
		return HeatRegime
	case epoch*max(1, friction/omega) < ordersBelow:
		return OrdersRegime
	}
	return BetweenRegime
}

// HeatLeft returns the share of the heat of independent batches that random orders leave in the
// law of a position, where batches differ by constant forces and steps are small: one less the
// variance of the mean of a stationary path over an epoch, relative to that of the position
// (docs/theory.md). The epoch is in units of 1/ω, Kηω, and the friction is C/ω. It rises from
// (Kηω)²/12 to 1, at small friction with waves: random orders gain what an epoch remembers.
func HeatLeft(epoch, friction float64) float64 {
	if friction == 2 { // two equal rates, near which nothing changes
		friction += 1e-6
	}
	// ρ(u) = (a e^{bu} − b e^{au})/(a − b) is the correlation of the path at two times.
	root := cmplx.Sqrt(complex(friction*friction/4-1, 0))
	a, b := -complex(friction/2, 0)+root, -complex(friction/2, 0)-root
	if friction > 2 {
		a = 1 / b // their product is 1: the sum would lose its digits, and at last the slow rate
	}
	// Of e^{au} the mean over pairs of times within an epoch is 2(e^x − 1 − x)/x², x = aT.
	mean := func(x complex128) complex128 {
		if cmplx.Abs(x) < 0.1 {
			return 1 + x/3*(1+x/4*(1+x/5*(1+x/6*(1+x/7*(1+x/8)))))
		}
		return 2 * (cmplx.Exp(x) - 1 - x) / (x * x)
	}
	t := complex(epoch, 0)
	return 1 - real((a*mean(b*t)-b*mean(a*t))/(a-b))
}
