#!/bin/bash
# A cohort on the GPUs of a Slurm cluster:   sbatch slurm.sh submissions.jsonl
# Ray starts on every node, `track cohort` on the first. The database lies on that node's own disk, as SQLite's
# log needs one, and is copied back at the end, or when the time is up; submitted again it goes on from there.
#SBATCH --job-name=track-cohort
#SBATCH --nodes=8
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=64
#SBATCH --time=08:00:00
#SBATCH --signal=B:TERM@300
set -euo pipefail

submissions=$(realpath "$1")
kept=$PWD/cohort.db
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
scratch=$(mktemp -d)
work=$scratch/cohort.db
[ ! -f "$kept" ] || cp "$kept" "$work"

export RAY_AUTH_MODE=token # whoever reaches Ray's ports runs code on it; the token lies in the home that nodes share
ray get-auth-token --generate > /dev/null

# A consistent copy while the run still writes; moved into place whole.
save() {
    [ ! -f "$work" ] || python -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("VACUUM INTO ?", (sys.argv[2],))' \
        "$work" "$kept.$SLURM_JOB_ID"
    [ ! -f "$kept.$SLURM_JOB_ID" ] || mv "$kept.$SLURM_JOB_ID" "$kept"
}
trap save EXIT
trap 'exit 143' TERM

# This script runs on the first node of the job: so does the command behind `--`.
srun --ntasks="$SLURM_JOB_NUM_NODES" ray symmetric-run --address "$head:6379" --min-nodes "$SLURM_JOB_NUM_NODES" \
    -- track cohort grade "$submissions" --db "$work" --ray auto --gpus &
wait $!
