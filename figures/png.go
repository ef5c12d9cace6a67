package figures

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"maps"
	"slices"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// pngCanvas writes PNG files with a palette, which have a third of the size.
type pngCanvas struct{ *vgimg.Canvas }

// FillString draws a text.
func (c pngCanvas) FillString(f font.Face, at vg.Point, s string) {
	c.Canvas.FillString(f, at, drawable(f, s))
}

// WriteTo encodes the image.
func (c pngCanvas) WriteTo(w io.Writer) (int64, error) {
	from := image.NewRGBA(c.Image().Bounds())
	draw.Draw(from, from.Rect, c.Image(), from.Rect.Min, draw.Src)
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&b, paletted(from)); err != nil {
		return 0, err
	}
	return b.WriteTo(w)
}

// paletteSize is half of what one byte a pixel tells apart: files have six sevenths of the size,
// and only rare shades of edges differ.
const paletteSize = 128

// paletted is an opaque image in the 128 of its colours that serve it best. Areas, lines and
// texts have few colours, and their edges many shades, of which the rare ones become near ones.
func paletted(from *image.RGBA) *image.Paletted {
	pixel := func(i int) color.RGBA {
		return color.RGBA{from.Pix[i], from.Pix[i+1], from.Pix[i+2], from.Pix[i+3]}
	}
	counts := make(map[color.RGBA]int)
	for i := 0; i < len(from.Pix); i += 4 {
		counts[pixel(i)]++
	}
	// Any order will do, as long as it is the same each time.
	colours := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	weights, far := make([]int, len(colours)), make([]int, len(colours))
	for i, c := range colours {
		weights[i], far[i] = counts[c], 1<<20 // from nothing: more than 3·255², the most there is
	}
	// The next colour is the one whose pixels are farthest, in sum of squares, from those chosen.
	// Without any chosen this is the most frequent one. far and nearest hold, for each colour, the
	// square of its distance to the palette and the place of its nearest colour there; a colour
	// that is chosen has distance 0 and is not chosen again.
	var palette color.Palette
	nearest := make(map[color.RGBA]uint8)
	for len(palette) < min(paletteSize, len(colours)) {
		next := 0
		for i, n := range weights {
			if n*far[i] > weights[next]*far[next] {
				next = i
			}
		}
		chosen := colours[next]
		for i, c := range colours {
			r, g, b := int(c.R)-int(chosen.R), int(c.G)-int(chosen.G), int(c.B)-int(chosen.B)
			if d := r*r + g*g + b*b; d < far[i] {
				far[i], nearest[c] = d, uint8(len(palette))
			}
		}
		palette = append(palette, chosen)
	}
	to := image.NewPaletted(from.Rect, palette)
	for i := range to.Pix {
		to.Pix[i] = nearest[pixel(4*i)]
	}
	return to
}
