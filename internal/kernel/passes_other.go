//go:build !amd64 && !arm64

package kernel

// Other machines do every element in plain Go.

func narrowVectors(level, []float32, []float64) int { return 0 }

func combineVectors(level, []float64, []float32, []Summand) int { return 0 }

func updateVectors(level, *Update, []float64) int { return 0 }

func normalVectors(level, *counter, []float64) int { return 0 }

func noiseUpdateVectors(level, *counter, *Update) int { return 0 }

func multiplyAdds[T Float](level, int) int { return 0 }
