package store_test

import (
	"fmt"
	"log"
	"os"

	"hambench/bench/store"
)

// A process computes what a shared store does not have, another one reads it.
func Example() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	here := store.Machine{Arch: "amd64", ISA: "avx2"}
	s, err := store.Open(dir, here)
	if err != nil {
		log.Fatal(err)
	}
	const key = "cell-1"                 // a hash of all that the numbers depend on
	if release, ok := s.Lease(key); ok { // otherwise another process is at it
		if err := s.Refresh(); err != nil {
			log.Fatal(err)
		}
		if !s.Has(store.Result, key) {
			err := s.Put(store.Record{Kind: store.Result, Key: key, Seconds: 0.5, Body: []byte(`{"distance":0.25}`)})
			if err != nil {
				log.Fatal(err)
			}
		}
		release()
	}
	if err := s.Close(); err != nil {
		log.Fatal(err)
	}

	there, err := store.Read(dir, store.Machine{Arch: "arm64", ISA: "neon"})
	if err != nil {
		log.Fatal(err)
	}
	if r, ok := there.Get(store.Result, key); ok {
		fmt.Printf("%s, made on %s %s\n", r.Body, r.Made.Arch, r.Made.ISA)
	}

	report, err := store.Verify(dir)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("verified:", report.OK(), "results:", report.Keys[store.Result])
	// Output:
	// {"distance":0.25}, made on amd64 avx2
	// verified: true results: 1
}
