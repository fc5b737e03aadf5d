"""One case: inputs drawn, a call made, the answer held against the oracle."""
