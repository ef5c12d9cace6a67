package kernel

// The assembly is made by the generators of internal/gen, a module of its
// own, so that nothing else depends on theirs. check.sh there verifies that
// what is committed is what they make.

//go:generate go -C ../gen run ./products -out ../kernel/products_amd64.s -stubs ../kernel/products_amd64.go -pkg kernel
//go:generate go -C ../gen run ./normals -out ../kernel/normals_amd64.s -pkg kernel
//go:generate go -C ../gen run ./passes -out ../kernel/passes_amd64.s -pkg kernel
//go:generate go -C ../gen run ./peak -out ../kernel/peak_amd64.s -stubs ../kernel/peakstubs_amd64.go -pkg kernel
