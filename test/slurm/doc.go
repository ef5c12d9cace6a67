// Package slurm holds the test of hambench slurm on a real cluster: Slurm's
// own daemons, three nodes, all on this machine. Run it with make test-slurm.
package slurm
