package datasets_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"hambench/models/datasets"
)

// A built-in set is loaded and divided into training and test rows.
func ExampleResolver_Load() {
	r := &datasets.Resolver{Offline: true}
	set, err := r.Load(context.Background(), "teacher-reg")
	if err != nil {
		log.Fatal(err)
	}
	split, err := set.Split(0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d rows to train, %d to test, %d features\n", set.Label, split.TrainRows(), split.TestRows(), split.Features)
	// Output:
	// Teacher network, regression (built in): 455 rows to train, 51 to test, 13 features
}

// A file of one's own becomes an entry of a registry, beside the built-in
// ones.
func ExampleFromFile() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "cider.csv")
	text := "acidity,sugar,quality\n7.4,1.9,5\n7.8,2.6,5\n11.2,1.8,6\n6.3,1.6,7\n7.9,1.2,7\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
	cider, err := datasets.FromFile("cider", path, datasets.FileOptions{Target: "quality", NoiseVariance: 0.3, TestShare: 0.2})
	if err != nil {
		log.Fatal(err)
	}
	r := &datasets.Resolver{Registry: append(datasets.Builtin(), cider)}
	set, err := r.Load(context.Background(), "cider")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v with %d features, %d rows to train\n", set.Task, set.Features, set.TrainRows)
	fmt.Println("targets:", set.Y)
	// Output:
	// regression with 2 features, 4 rows to train
	// targets: [5 5 6 7 7]
}
