package table

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// Kind is the type of a value, and of the values of a column.
type Kind int

// Kinds of values. A missing value, None, may stand in every column.
const (
	None Kind = iota
	Truth
	Number
	Text
)

// String returns the kind's name, as files and errors have it.
func (k Kind) String() string { return [...]string{"none", "truth", "number", "text"}[k] }

// MarshalText writes the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Value is one entry of a table: a text, a number, a truth, or none. Values are
// equal by == exactly if they are the same: 1 and 1.0 are, and so are two NaNs and
// 0 and -0. The zero value is none.
type Value struct {
	kind   Kind
	nan    bool    // the number is NaN, which == would tell from itself
	number float64 // of a number; 1 for true
	text   string  // of a text; the digits of a whole number that float64 cannot hold
}

// mostExact is the largest whole number up to which float64 has every one.
const mostExact = 1 << 53

// Of returns the value of a text, a number or a bool of any such type; nil is none. It
// panics on other types.
func Of(v any) Value {
	if v == nil {
		return Value{}
	}
	if v, ok := v.(Value); ok {
		return v
	}
	// Named types, such as a verdict or a Real, are what they are made of.
	switch r := reflect.ValueOf(v); {
	case r.Kind() == reflect.String:
		return Value{kind: Text, text: r.String()}
	case r.Kind() == reflect.Bool && r.Bool():
		return Value{kind: Truth, number: 1}
	case r.Kind() == reflect.Bool:
		return Value{kind: Truth}
	case r.CanInt():
		return whole(float64(r.Int()), r.Int() < -mostExact || r.Int() > mostExact, r.Int())
	case r.CanUint():
		return whole(float64(r.Uint()), r.Uint() > mostExact, r.Uint())
	case r.CanFloat() && math.IsNaN(r.Float()):
		return Value{kind: Number, nan: true}
	case r.CanFloat():
		return Value{kind: Number, number: r.Float() + 0} // -0 + 0 = 0
	}
	panic(fmt.Sprintf("table: %T is no type of a value", v))
}

// whole is a whole number, with its digits where it is too large for float64.
func whole(number float64, large bool, n any) Value {
	v := Value{kind: Number, number: number}
	if large {
		v.text = fmt.Sprint(n)
	}
	return v
}

// Kind returns the value's type.
func (v Value) Kind() Kind { return v.kind }

// IsNone reports whether there is no value.
func (v Value) IsNone() bool { return v.kind == None }

// Number returns the number; NaN if the value is none.
func (v Value) Number() float64 {
	if v.kind != Number || v.nan {
		return math.NaN()
	}
	return v.number
}

// Text returns the text; "" if the value is none.
func (v Value) Text() string {
	if v.kind != Text {
		return ""
	}
	return v.text
}

// Truth returns whether the value is true.
func (v Value) Truth() bool { return v.kind == Truth && v.number == 1 }

// Any returns nil, a bool, a string or a number: a float64 or, of whole numbers that float64
// lacks, an int64 or uint64.
func (v Value) Any() any {
	switch v.kind {
	case Truth:
		return v.Truth()
	case Number:
		if n, err := strconv.ParseInt(v.text, 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseUint(v.text, 10, 64); err == nil {
			return n
		}
		return v.Number()
	case Text:
		return v.text
	}
	return nil
}

// MarshalJSON writes the value: null for none, and for a number that JSON cannot say.
func (v Value) MarshalJSON() ([]byte, error) {
	if x := v.Number(); v.kind == Number && (math.IsNaN(x) || math.IsInf(x, 0)) {
		return []byte("null"), nil
	}
	return json.Marshal(v.Any())
}

// String returns the value for people: numbers without an exponent.
func (v Value) String() string {
	switch {
	case v.kind == None:
		return "–"
	case v.kind == Truth:
		return strconv.FormatBool(v.Truth())
	case v.text != "" || v.kind == Text:
		return v.text
	}
	return strconv.FormatFloat(v.Number(), 'f', -1, 64)
}

// appendTo appends a text that no other value has.
func (v Value) appendTo(b []byte) []byte {
	switch {
	// Quotes tell a text from a number or a truth of the same letters, and a space in a text
	// from one between values.
	case v.kind == Text:
		return strconv.AppendQuote(b, v.text)
	case v.kind == None:
		return append(b, '-')
	case v.kind == Number && v.text == "":
		return strconv.AppendFloat(b, v.Number(), 'g', -1, 64)
	}
	return append(b, v.String()...)
}

// Compare orders values: none, then false and true, then numbers, of which NaN is the
// first, then texts.
func Compare(a, b Value) int {
	order := cmp.Or(
		cmp.Compare(a.kind, b.kind),
		cmp.Compare(a.Number(), b.Number()), // NaN of both but for numbers
		cmp.Compare(a.number, b.number),     // of truths
	)
	// Whole numbers that float64 cannot tell apart are ordered by their digits: more are larger.
	if a.kind == Number {
		order = cmp.Or(order, cmp.Compare(len(a.text), len(b.text)))
	}
	return cmp.Or(order, cmp.Compare(a.text, b.text))
}
