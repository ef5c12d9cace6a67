#!/bin/sh
# 64 identical workers of hambench on one store.
#SBATCH --job-name=hambench-0123abcd
#SBATCH --array=0-63
#SBATCH --output="/shared/my 100%% out/slurm/0123abcd/log/worker-%a.txt"
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --partition="ci"
#SBATCH --time="12:00:00"
#SBATCH --mem="4G"
#SBATCH --exclusive
export HAMBENCH_ISA=avx2
export HAMBENCH_DATA='/shared/it'\''s data'
exec /shared/bin/hambench reproduce '--out=/shared/my 100% out' --only=toy,paths
