package datasets

// splitsDigest is FNV-1a over the printed indices of three splits a set.
const splitsDigest = 0x1a82e6b0065173d5

// builtinDigests are FNV-1a over the printed numbers of the built-in sets.
var builtinDigests = map[string]uint64{
	"toy":         0x4192f99e6689eb1d,
	"linear":      0x84507f5ec0d702f5,
	"logistic":    0x917a452d5561feb0,
	"teacher-reg": 0xcee55fab54a6348e,
	"teacher-cls": 0xb745901fbca96381,
}
