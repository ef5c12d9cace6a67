// Ship writes the reference chains of split 0 that travel with the program: those that the
// store of a folder OUT has, where `hambench judge --dataset NAME --checks --rebuild --out
// OUT` makes them. Usage, in the folder of the repository: go run ./test/ship OUT
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/sweep"
	"hambench/models"
	"hambench/models/datasets"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("want the folder whose store has the references")
	}
	to := filepath.Join("oracle", "shipped")
	if err := ship(os.Args[1], to, datasets.Builtin()); err != nil {
		log.Fatal(err)
	}
}

// ship writes the files of the data sets whose references the store of out has into the
// folder to.
func ship(out, to string, sets datasets.Registry) error {
	resolver, err := datasets.NewResolver("")
	if err != nil {
		return err
	}
	keys := &bench.Keys{Source: models.NewSource(nil, resolver)}
	s, err := store.Read(filepath.Join(out, "store"), sweep.Here())
	if err != nil {
		return err
	}
	for _, d := range sets {
		key, err := keys.Reference(context.Background(), bench.ReferenceSpec(d, 0, d.Model, ""))
		if err != nil {
			fmt.Printf("%s: %v\n", d.Name, err)
			continue
		}
		r, _ := sweep.LoadReference(s, key)
		if r == nil {
			continue
		}
		file, err := r.Ship(key)
		if err != nil {
			return err
		}
		path := filepath.Join(to, d.Name+".json.gz")
		if err := os.WriteFile(path, file, 0o644); err != nil {
			return err
		}
		fmt.Printf("%s: %d bytes, own error %.4f, %d checks fail\n", path, len(file),
			r.OwnError.Upper, len(r.Failed()))
	}
	return nil
}
