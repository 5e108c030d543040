"""The forger's rooms: honest models, edits of their files, oracles that share nothing with linsep, and the run."""
