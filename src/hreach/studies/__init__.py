"""Studies: agents on a domain over many runs, described by a TOML file, kept as immutable shards."""
