#!/bin/sh
# Run 0123abcd of hambench, stage sweep.
#SBATCH --job-name=hambench-0123abcd-sweep
#SBATCH --output="/shared/my 100%% out/slurm/0123abcd/log/sweep-%a.txt"
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
exec /shared/bin/hambench reproduce '--out=/shared/my 100% out' --only=toy,paths --shard "$SLURM_ARRAY_TASK_ID/64"
