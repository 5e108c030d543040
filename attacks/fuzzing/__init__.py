"""The fuzzer's rooms: what is attacked, how inputs are damaged, sanitizers, and a run that survives crashes."""
