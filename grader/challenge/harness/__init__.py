"""The test harness of one case: inputs drawn, a call made, the answer held against the oracle."""
