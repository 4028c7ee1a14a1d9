"""Machine code: functions compiled by numba, kept on disk, and called by address."""
