"""Machine code: functions compiled by numba, cached on disk, and called by address."""
