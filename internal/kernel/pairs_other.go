//go:build !amd64

package kernel

// AVX-512 alone has pairs.

func compilePairForward(code []instruction, _ *PairForward) []instruction { return code }

func compilePairBack(code []instruction, _ *PairBack) []instruction { return code }
