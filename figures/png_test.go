package figures

import (
	"image"
	"image/color"
	"math/rand/v2"
	"testing"
)

// An image of few colours keeps all of them; of more, each pixel gets a colour near its own, the
// nearer the more pixels have it.
func TestPalettesKeepColours(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	few, many := image.NewRGBA(image.Rect(0, 0, 300, 200)), image.NewRGBA(image.Rect(0, 0, 300, 200))
	at := func(from image.Image, x, y int) color.RGBA {
		return color.RGBAModel.Convert(from.At(x, y)).(color.RGBA)
	}
	for y := range 200 {
		for x := range 300 {
			few.SetRGBA(x, y, color.RGBA{uint8(x % 16 * 17), uint8(y % 8 * 34), 90, 255})
			// Mostly white, and shades of a line from blue to white.
			shade := uint8(255)
			if rng.IntN(10) == 0 {
				shade = uint8(rng.IntN(256))
			}
			many.SetRGBA(x, y, color.RGBA{shade, 100 + uint8(rng.IntN(3)), 255, 255})
		}
	}
	exact := paletted(few)
	near := paletted(many)
	if len(exact.Palette) != paletteSize || len(near.Palette) != paletteSize {
		t.Fatalf("palettes of %d and %d colours", len(exact.Palette), len(near.Palette))
	}
	for y := range 200 {
		for x := range 300 {
			if at(exact, x, y) != few.RGBAAt(x, y) {
				t.Fatalf("pixel %d, %d is %v, want %v", x, y, at(exact, x, y), few.RGBAAt(x, y))
			}
			a, b := at(near, x, y), many.RGBAAt(x, y)
			if d := max(int(a.R)-int(b.R), int(b.R)-int(a.R), int(a.G)-int(b.G), int(b.G)-int(a.G)); d > 4 {
				t.Fatalf("pixel %d, %d is %v, want %v", x, y, a, b)
			}
		}
	}
}
