package datasets

// splitsDigest is FNV-1a over the printed indices of three splits a set.
const splitsDigest = 0x1a82e6b0065173d5
